"""Experiments: points that run several times. Every run is on disk when it ends; a killed experiment resumes."""
