"""The subcommands of `lull`, one module each. It parses options, calls its room and prints; no room imports it."""
