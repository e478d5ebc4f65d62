"""How long a test waits for what should happen soon: long enough for a machine that others keep busy.

A test that passes never waits so long, so that the bound costs nothing; it ends tests of what hangs.
"""

TIMEOUT_S = 300.0
