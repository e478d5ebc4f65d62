"""Verbs for a site that meters every job."""
