"""`lull top`: the power of nodes now, in a screen or once as a table."""
