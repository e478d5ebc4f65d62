"""A small network and a sweep of four simulations of it, for tests of commands that run them."""

from pathlib import Path

NET = """
[topology]
name = "fat-tree"
radix = 4
[[jobs]]
messages = 20
load = 0.2
"""
SWEEP = """
base = "net.toml"
repeats = 2
[matrix]
"power.mode" = ["active", "deep-sleep", "hybrid"]
"power.hold" = ["0 Ts", "1 Ts"]
[[exclude]]
"power.mode" = "hybrid"
"power.hold" = "0 Ts"
"""
POINTS = ["mode-active", "mode-deep-sleep.hold-0_Ts", "mode-deep-sleep.hold-1_Ts", "mode-hybrid.hold-1_Ts"]


def files(folder: Path, sweep: str = SWEEP, net: str = NET) -> Path:
    (folder / "net.toml").write_text(net)
    (folder / "sweep.toml").write_text(sweep)
    return folder / "sweep.toml"
