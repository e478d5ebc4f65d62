"""Two records or more beside one another: quantities, ratios with intervals, a verdict in words, tables."""
