"""`python -m lull` is the command `lull`."""

from lull.cli import main

main()
