"""How fast are one-sided operations compared with Open MPI's, and what does waiting cost? (`make bench-one-sided`)

One C program, compiled with both libraries; they run in turn, in several rounds, so that a drift of the machine affects
both. Lull runs with default settings: LULL_WAIT=interrupt. "tcp" is UCX's tcp over the loopback: two emulated nodes for
Lull, UCX_TLS=tcp,self for Open MPI. The link is one of 1 Gbit/s between two virtual hosts, with idle gaps between the
transfers; shift measures on it with LULL_WAIT=poll and adaptive in turn, the target always with interrupt. Prints
tables, then one line of JSON; figures.toml describes its figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.base import installed
from lull.hosts.program import end_in_order_on_signals
from lull.hosts.virtual import INTERFACE, Host, Link, virtual_hosts

ROUNDS = 7
LIMIT_S = 180
END_S = 10
TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "bench-one-sided"
LINK = Link("1gbit", "20kb", 16384)
LINK_SIZES = {65536: "64k", 262144: "256k"}
IDLE_GAP_US = 2000

ENVIRONMENT = {**os.environ, "SHMEM_SYMMETRIC_SIZE": "64M"}
OURS = {**ENVIRONMENT, "LULL_WAIT": "interrupt"}
THEIRS = {
    **ENVIRONMENT,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # Without this, Open MPI 4.1.4 of Debian 12 crashes in shmem_finalize.
    "OMPI_MCA_opal_common_ucx_opal_mem_hooks": "0",
}
OVER_TCP = {"UCX_TLS": "tcp,self"}


@dataclass(frozen=True)
class Setting:
    """PEs, and the path between them."""

    pes: int
    tcp: bool
    mode: str  # of the C program

    @property
    def name(self) -> str:
        """Its heading in the tables."""
        return f"{self.pes} PEs, {'tcp' if self.tcp else 'shared memory'}"


COMPARED = [
    Setting(2, False, "alone"),
    Setting(2, True, "alone"),
    Setting(8, False, "together"),
    Setting(8, True, "together"),
]
START = Setting(8, False, "start")  # timed from outside
EXCHANGE = Setting(2, True, "exchange")  # only Lull: polling does not drive the other library's transfers
BLOCKS = [Setting(2, tcp, "blocks") for tcp in (False, True)]  # only Lull: of OpenSHMEM 1.6
ALONE = [EXCHANGE, *BLOCKS]  # not compared with the other library
WAITS = [Setting(pes, tcp, "wait") for pes in (2, 8) for tcp in (False, True)]
Seen = dict[tuple[str, int], list[float]]  # (what, bytes) -> the figure of each round


def of_open_mpi(name: str) -> str:
    """The command of that name outside this environment, in which it is Lull's."""
    own = Path(sys.prefix) / "bin"
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder).resolve() != own.resolve()]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if not found:
        raise SystemExit(f"compare with Open MPI: there is no {name} of it on PATH")
    return found


def build() -> dict[str, Path]:
    """Compile the program with each library."""
    subprocess.run([str(TOP / "scripts" / "setup"), "packages/bench-one-sided.txt"], check=True, stdout=sys.stderr)
    BUILD.mkdir(parents=True, exist_ok=True)
    source = str(TOP / "benchmarks" / "one_sided" / "one_sided.c")
    prefix = installed.package_folder()
    pkg_config = {**os.environ, "PKG_CONFIG_PATH": str(Path(sys.prefix) / "lib" / "pkgconfig")}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "lull-shmem"], env=pkg_config, capture_output=True, text=True, check=False
    )
    if flags.returncode != 0:
        raise SystemExit(f"build the benchmark: Lull is not installed beside {prefix}; make build")
    common = ["-std=c11", "-O2", "-Wall", "-Wextra", source]
    programs = {"ours": BUILD / "ours", "theirs": BUILD / "theirs"}
    subprocess.run(["cc", *common, "-o", str(programs["ours"]), *shlex.split(flags.stdout)], check=True)
    subprocess.run([of_open_mpi("oshcc"), *common, "-o", str(programs["theirs"])], check=True)
    return programs


def lines_of(command: Sequence[str], env: dict[str, str]) -> list[dict[str, Any]]:
    """The output of a program, one JSON object per line."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            said, complaints = run.communicate(timeout=LIMIT_S)
        except BaseException as error:
            run.terminate()  # not kill: a launcher must end its own processes
            with suppress(subprocess.TimeoutExpired):
                run.wait(END_S)
            run.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise SystemExit(f"time {' '.join(command)}: it did not end within {LIMIT_S} s") from None
            raise
    if run.returncode != 0:
        last = complaints.strip().splitlines() or ["it said nothing"]
        raise SystemExit(f"time {' '.join(command)}: exit {run.returncode}: {last[-1]}")
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def ours(program: Path, setting: Setting) -> list[dict[str, Any]]:
    """One run with Lull."""
    launch = [str(installed.executable("lull-launch")), "-n", str(setting.pes)]
    if setting.tcp:
        launch += ["--nodes", str(setting.pes)]
    return lines_of([*launch, "--", str(program), setting.mode], {**OURS, **(OVER_TCP if setting.tcp else {})})


def theirs(program: Path, setting: Setting) -> list[dict[str, Any]]:
    """One run with Open MPI."""
    launch = [of_open_mpi("oshrun"), "--oversubscribe", "-n", str(setting.pes)]
    return lines_of([*launch, str(program), setting.mode], {**THEIRS, **(OVER_TCP if setting.tcp else {})})


def compare(programs: dict[str, Path], rounds: int) -> dict[Setting, dict[str, Seen]]:
    """All figures of both libraries; those of waiting in percent of a core, the others in microseconds."""
    seen: dict[Setting, dict[str, Seen]] = {
        s: {"ours": defaultdict(list), "theirs": defaultdict(list)} for s in [*COMPARED, *WAITS, START, *ALONE]
    }
    for number in range(rounds):
        for setting in [*COMPARED, START, *ALONE, *(WAITS if number < 3 else [])]:
            for who, run in (("ours", ours), ("theirs", theirs)) if setting not in ALONE else (("ours", ours),):
                begin = time.monotonic()
                lines = run(programs[who], setting)
                if setting == START:
                    seen[setting][who]["start", 0].append((time.monotonic() - begin) * 1e6)
                for line in lines:
                    figure = line["us"] if "us" in line else line["cpu_pct"]
                    seen[setting][who][line["what"], line.get("bytes", 0)].append(figure)
        print(f"round {number + 1}/{rounds}", file=sys.stderr)
    return seen


# The limited link.
@dataclass(frozen=True)
class OnLink:
    """One size, one wait policy, one round."""

    latency_us: float
    cpu_us: float
    busy_us: float  # over all cores of this machine, per transfer


def idle_seconds() -> float:
    """The total idle time of this machine's cores."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def on_second_host(hosts: Sequence[Host]) -> str:
    """A shell command that starts "$@" here for the first PE, and on the second host for the other.

    The other PE always waits by the same policy, because the comparison is about the PE that transfers.
    """
    other = f'export LULL_WAIT=interrupt; exec {shlex.join(hosts[1].command([]))} "$@"'
    return f'if [ "$PMIX_RANK" = 1 ]; then {other}; fi; exec "$@"'


def shift_on_link(hosts: Sequence[Host], policy: str) -> dict[int, OnLink]:
    """The sizes up to the largest of the link, in one run of shift; the first size is a warm-up and left out."""
    sizes = ["--min", str(min(LINK_SIZES) // 2), "--max", str(max(LINK_SIZES))]
    gap = ["--idle-gap", str(IDLE_GAP_US), "--gap", "sleep"]
    shift = [str(installed.applications()["shift"]), *sizes, *gap, "--from", "first", "--iterations", "150", "--json"]
    launch = [str(installed.executable("lull-launch")), "-n", "2", "--nodes", "2", "--", "sh", "-c"]
    env = {
        **ENVIRONMENT,
        "LULL_WAIT": policy,
        "UCX_NET_DEVICES": INTERFACE,
        "PMIX_MCA_ptl_tcp_if_include": INTERFACE,
        "PMIX_MCA_ptl_tcp_remote_connections": "1",
    }
    command = hosts[0].command([*launch, on_second_host(hosts), "sh", *shift])
    found: dict[int, OnLink] = {}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None and run.stderr is not None
        cores = os.cpu_count() or 1
        before: tuple[float, float] | None = None
        for text in run.stdout:
            line, now = json.loads(text), (time.monotonic(), idle_seconds())
            if before is not None:
                wall_s, idle_s = now[0] - before[0], now[1] - before[1]
                transfers = wall_s * 1e6 / (IDLE_GAP_US + line["latency_us"])
                busy_us = max(wall_s * cores - idle_s, 0.0) * 1e6 / transfers
                found[line["bytes"]] = OnLink(line["latency_us"], line["cpu_us"], busy_us)
            before = now
        said = run.stderr.read().strip().splitlines()
    if run.returncode != 0 or not set(LINK_SIZES) <= set(found):
        raise SystemExit(f"time the link under {policy}: exit {run.returncode}: {said[-1] if said else 'no figures'}")
    return found


def over_link(rounds: int) -> dict[str, dict[int, list[OnLink]]]:
    """Both policies in turn: policy -> size -> rounds."""
    seen: dict[str, dict[int, list[OnLink]]] = {"poll": defaultdict(list), "adaptive": defaultdict(list)}
    with virtual_hosts(2, LINK) as hosts:
        for number in range(rounds):
            for policy, by_size in seen.items():
                for size, one in shift_on_link(hosts, policy).items():
                    by_size[size].append(one)
            print(f"link, round {number + 1}/{rounds}", file=sys.stderr)
    return seen


# The output.
def spread(values: Sequence[float]) -> tuple[float, float]:
    """The median and the interquartile range."""
    if len(values) == 1:
        return values[0], 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, high - low


def print_compared(seen: dict[Setting, dict[str, Seen]]) -> None:
    """The tables of both libraries."""
    for setting in COMPARED:
        who = "the first PE alone" if setting.mode == "alone" else "all PEs at once"
        print(f"\n{setting.name}, {who}: medians in us, (interquartile range)")
        print(f"{'':10} {'bytes':>8} {'Lull':>22} {'Open MPI':>22} {'theirs/ours':>12}")
        for (what, size), values in seen[setting]["ours"].items():
            mine, my_spread = spread(values)
            other, their_spread = spread(seen[setting]["theirs"][what, size])
            cells = f"{mine:>10.4g} ({my_spread:>8.2g})  {other:>10.4g} ({their_spread:>8.2g})"
            print(f"{what:10} {size:>8} {cells:>46} {other / mine:>11.3g}")
    print(f"\n{EXCHANGE.name}, 32 KiB each way by put, fence and atomic: medians in us, (interquartile range)")
    for (what, _), values in seen[EXCHANGE]["ours"].items():
        mine, my_spread = spread(values)
        print(f"{what:19} {mine:>10.4g} ({my_spread:>8.2g})")
    for setting in BLOCKS:
        print(f"\n{setting.name}: us per block of 64 bytes, and per addition, (interquartile range)")
        for (what, _), values in seen[setting]["ours"].items():
            mine, my_spread = spread(values)
            print(f"{what:19} {mine:>10.4g} ({my_spread:>8.2g})")
    print("\nCPU time of the PE that takes most, in percent of a core")
    print(f"{'':36} {'Lull':>10} {'Open MPI':>10}")
    for setting in WAITS:
        for what, words in (("idle", "asleep"), ("barrier", "1 s in a barrier")):
            figures = [statistics.median(seen[setting][who][what, 0]) for who in ("ours", "theirs")]
            print(f"{setting.name + ', ' + words:36} {figures[0]:>10.3g} {figures[1]:>10.3g}")


def print_link(seen: dict[str, dict[int, list[OnLink]]]) -> None:
    """The table of the link."""
    print(f"\nlink of {LINK.rate}, put and quiet, {IDLE_GAP_US} us idle between: medians in us, (interquartile range)")
    print(f"{'bytes':>8} {'policy':10} {'latency':>20} {'CPU of the process':>22} {'cores truly busy':>20}")
    for size in seen["poll"]:
        for policy, by_size in seen.items():
            cells = [
                "{:>9.5g} ({:>7.3g})".format(*spread([getattr(one, name) for one in by_size[size]]))
                for name in ("latency_us", "cpu_us", "busy_us")
            ]
            print(f"{size:>8} {policy:10} {cells[0]:>20} {cells[1]:>22} {cells[2]:>20}")


def ratios(seen: dict[Setting, dict[str, Seen]], link: dict[str, dict[int, list[OnLink]]]) -> dict[str, float]:
    """The figures of the last line."""
    alone, tcp, eight, _ = COMPARED

    def over(setting: Setting, what: str, size: int) -> float:
        figures = [statistics.median(seen[setting][who][what, size]) for who in ("theirs", "ours")]
        return figures[0] / figures[1]

    def least(setting: Setting, what: str) -> float:
        return min(over(setting, name, size) for name, size in seen[setting]["ours"] if name == what)

    def polled(how: str) -> float:
        figures = [statistics.median(seen[EXCHANGE]["ours"][f"exchange-{way}", 32768]) for way in (how, "wait")]
        return figures[0] / figures[1]

    def gained(setting: Setting, plain: str, better: str) -> float:
        figures = [statistics.median(seen[setting]["ours"][what, 8]) for what in (plain, better)]
        return figures[0] / figures[1]

    def most(what: str) -> float:
        return max(statistics.median(seen[setting]["ours"][what, 0]) for setting in WAITS)

    found = {
        "put_min_ratio": least(alone, "put"),
        "get_min_ratio": least(alone, "get"),
        "amo_ratio": over(alone, "fetch-add", 8),
        "nbi_rate_ratio": over(alone, "nbi", 8),
        "tcp_put_min_ratio": least(tcp, "put"),
        "tcp_get_min_ratio": least(tcp, "get"),
        "tcp_amo_ratio": over(tcp, "fetch-add", 8),
        "tcp_poll_test_ratio": polled("test"),
        "tcp_poll_fetch_ratio": polled("fetch"),
        "tcp_nbi_rate_ratio": over(tcp, "nbi", 8),
        "ibput_ratio": gained(BLOCKS[0], "blocks-loop", "blocks-ibput"),
        "tcp_ibput_ratio": gained(BLOCKS[1], "blocks-loop", "blocks-ibput"),
        "tcp_batch_atomics_ratio": gained(BLOCKS[1], "additions", "additions-batch"),
        "barrier8_ratio": over(eight, "barrier", 0),
        "start8_ratio": over(START, "start", 0),
        "idle_cpu_pct": most("idle"),
        "barrier_cpu_1s_pct": most("barrier"),
    }
    for size, name in LINK_SIZES.items():
        for figure in ("latency", "cpu"):
            medians = [
                statistics.median(getattr(one, f"{figure}_us") for one in link[policy][size])
                for policy in ("adaptive", "poll")
            ]
            found[f"adaptive_{figure}_ratio_{name}"] = medians[0] / medians[1]
    return found


def main() -> None:
    """Print the tables, and the ratios as JSON."""
    parser = argparse.ArgumentParser(description="Compare one-sided operations with Open MPI's OpenSHMEM.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"How often everything takes its turn. [{ROUNDS}]")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be at least 1")
    end_in_order_on_signals()
    programs = build()
    seen = compare(programs, rounds)
    link = over_link(rounds)
    print_compared(seen)
    print_link(link)
    print()
    print(json.dumps({name: round(value, 4) for name, value in ratios(seen, link).items()}))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
