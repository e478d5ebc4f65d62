"""The commands that show and change how Lull is set up."""
