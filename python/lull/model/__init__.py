"""Predictions by the native model: what is put to it, and the sites of publications to hold them against."""
