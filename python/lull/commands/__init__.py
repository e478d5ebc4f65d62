"""The verbs of `lull`, a module each: it parses its options, calls its room, and prints. No room imports one."""
