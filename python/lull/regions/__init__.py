"""What a program says of itself: the calls it makes, and the accounts of its processes merged."""
