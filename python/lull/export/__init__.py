"""`lull export`: readings for Prometheus, and records as tables for other programs."""
