"""How long a test waits for what should happen soon: long enough for a busy machine.

A test that passes never waits so long, so the bound costs nothing; it ends tests that hang.
"""

TIMEOUT_S = 300.0
