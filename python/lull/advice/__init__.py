"""Advice: predict the cost and savings of each choice from a record and the machine file, and verify them."""
