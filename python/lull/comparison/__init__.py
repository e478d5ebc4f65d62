"""Compare two or more records: quantities, ratios with intervals, a verdict in words, tables."""
