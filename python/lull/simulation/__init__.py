"""`lull simulate`: simulate a network that a TOML file describes, once or in a sweep."""
