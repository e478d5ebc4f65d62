"""A stand-in for the native module, for tests where it is not built: a meter of constant power, a few settings.

Run as a program it is the command `lull` on this stand-in, with the guard of stand_in_guard.py.
"""

import importlib.util
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

HERE = Path(__file__).parent
WATTS = (10.0, 2.0, 0.5)
CHANNELS = (
    SimpleNamespace(
        name="estimate:package", source="estimate", domain="package", kind="estimated", interval_s=0.0, basis="10 W"
    ),
    SimpleNamespace(
        name="estimate:dram", source="estimate", domain="dram", kind="estimated", interval_s=0.0, basis="2 W"
    ),
    SimpleNamespace(name="net:lo", source="net", domain="wire", kind="derived", interval_s=0.0, basis="1 MB/s"),
)
SETTINGS = {
    "LULL_WAIT": ("interrupt", "poll|interrupt"),
    "LULL_METER_HZ": ("10", "0.1..100"),
    "LULL_METER_SOURCES": ("", ""),
    "LULL_WIRE_INTERFACES": ("", ""),
    "LULL_RECORD": ("", ""),
}


class CoreError(Exception):
    pass


def settings():
    table = []
    for variable, (default, choices) in SETTINGS.items():
        value = os.environ.get(variable) or default
        bad = "|" in choices and value not in choices.split("|")
        table.append(
            SimpleNamespace(
                variable=variable,
                type="choice" if "|" in choices else "text",
                default=default,
                choices=choices,
                meaning=f"what {variable} means",
                value=value,
                origin="environment" if os.environ.get(variable) else "default",
                problem=f"'{value}' is not one of {choices}" if bad else "",
            )
        )
    return table


def unknown_variables():
    return [(name, "LULL_WAIT") for name in os.environ if name.startswith("LULL_") and name not in SETTINGS]


def sources(sysroot="/"):
    common = {"unit": "J", "interval_s": 0.0, "range": "", "permission": ""}
    return [
        SimpleNamespace(
            name="powercap",
            kind="measured",
            readable=False,
            used=False,
            reason="no such folder",
            remedy="modprobe intel_rapl_common",
            channels=[],
            **common,
        ),
        SimpleNamespace(
            name="estimate",
            kind="estimated",
            readable=True,
            used=True,
            reason="",
            remedy="",
            channels=list(CHANNELS),
            **common,
        ),
    ]


def now_ns():
    return time.monotonic_ns()


class Sampler:
    def __init__(self, sysroot="/", hz=10.0, sources=()):
        names = sources or filter(None, os.environ.get("LULL_METER_SOURCES", "").split(","))
        if unknown := [name for name in names if name != "estimate"]:
            raise CoreError(f"read the source {unknown[0]}: there is no such source; lull sources lists them")
        self.channels = list(CHANNELS)
        self._period = 1 / hz

    def start(self):
        self._times = [now_ns()]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self):
        while not self._ended.wait(self._period):
            self._times.append(now_ns())

    def stop(self):
        self._ended.set()
        self._thread.join()
        self._times.append(now_ns())
        times = np.array(self._times, dtype=np.int64)
        joules = np.outer((times - times[0]) / 1e9, WATTS)
        totals = [
            SimpleNamespace(
                joules=value,
                low_j=value * 0.5,
                high_j=value * 1.5,
                bytes=round(value * 2e6) if channel.domain == "wire" else None,
                wraps=0,
                gaps=0,
                resets=0,
                stale=0,
                lower_bound=False,
            )
            for channel, value in zip(CHANNELS, joules[-1], strict=True)
        ]
        return SimpleNamespace(time_ns=times, joules=joules, totals=totals)


def install(folder: Path) -> None:
    """Make this file `lull._core`, with its executables below `folder`."""
    guard = folder / "libexec" / "lull-guard"
    if not guard.exists():
        guard.parent.mkdir(parents=True, exist_ok=True)
        aside = guard.with_suffix(f".{os.getpid()}")
        aside.write_text(f"#!{sys.executable}\n" + (HERE / "stand_in_guard.py").read_text())
        aside.chmod(0o755)
        aside.rename(guard)
    module = ModuleType("lull._core")
    module.__file__ = str(folder / "_core.so")
    for name in ("CoreError", "Sampler", "settings", "sources", "unknown_variables", "now_ns"):
        setattr(module, name, globals()[name])
    import lull

    sys.modules["lull._core"] = module
    lull._core = module
    if importlib.util.find_spec("lull.compare") is None:
        stand_in_for_compare()


def stand_in_for_compare() -> None:
    """Enough of lull.compare and lull.report for a study to come to its end."""
    compare, report = ModuleType("lull.compare"), ModuleType("lull.report")

    def compare_runs(baseline, candidate, *, region=None, per=None):
        times = [
            [
                next(r.wall_s for r in repeat.regions if r.name == region) if region else repeat.wall_s
                for repeat in repeats
            ]
            for repeats in (baseline.repeats, candidate.repeats)
        ]
        ratio = SimpleNamespace(value=float(np.median(times[0]) / np.median(times[1])), low=None, high=None)
        return SimpleNamespace(
            speedup=ratio,
            greenup=ratio,
            powerup=ratio,
            category=None,
            verdict="undecided",
            kind=baseline.channels[0].kind,
            warnings=[],
        )

    compare.compare_runs = compare_runs
    compare.render_table = lambda rows, console: [console.print(name, found.speedup.value) for name, found in rows]
    report.write_report = lambda folders, out, title: out.write_text(f"{title}: {len(folders)} records")
    sys.modules["lull.compare"], sys.modules["lull.report"] = compare, report


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1] / "python"))
    install(Path(os.environ.get("STAND_IN_FOLDER", tempfile.gettempdir() + "/lull-stand-in")))
    from lull.cli import main

    main()
