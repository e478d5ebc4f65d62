"""An experiment that a TOML file describes: its points, their runs, the paper's claims beside what was found."""
