"""Lull: time and energy of moving data in parallel programs.

The command `lull` is the front door (`lull --help`). As a library: `lull.record` reads and writes the record of a run,
`lull.stats` and `lull.gpsup` compare two of them, and nothing else is shared between the commands.
"""

__version__ = "0.1.0"
