"""Advice: what each choice would cost and save, by a run's record and the machine file; and whether that came true."""
