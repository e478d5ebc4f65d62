"""The base of all rooms: one-line errors, signals, guarded commands, atomic file writes, the native module."""
