"""`lull simulate`: a network simulated as a TOML file describes it, one simulation or a sweep of many."""
