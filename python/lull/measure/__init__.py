"""Measuring a command: one repeat of it, the folder its record goes to, and the command `lull measure`."""
