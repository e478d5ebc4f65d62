"""Mutation tests of the rooms that compute: do their tests notice when the code is changed?

    python tests/mutation/mutation.py [--number 200] [--seed 1] [--room ROOM] [--fresh]      what `make mutation` runs

A seed draws a sample of the mutants of each room in rooms.toml (mutants.py defines mutants), in proportion to the
rooms' weights. Each mutant is applied to a copy of the checkout, built, and run with the tests of the room: it is
killed if these fail, crash or take too long; otherwise it survives. One that does not compile is replaced by the next
of the sample.

Results are kept in build/mutation/results, so that an interrupted call continues where it was. A killed mutant is not
tried again, because tests are only added; a survivor is, if the tests of its room have changed. `--fresh` discards all
results.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import shutil
import signal
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path

from mutants import Mutant, mutants
from working_copy import CopyError, Ended, WorkingCopy, last_line

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "build" / "mutation"
TREE = FOLDER / "tree"  # the copy, in the state at the start of the call, whatever is edited later
ROOMS = Path(__file__).with_name("rooms.toml")
KILLED, TIMED_OUT, SURVIVED, NOT_COMPILED = "killed", "killed by time", "survived", "does not compile"
NUMBER = 200
SLACK_S, TIMES_LONGER = 10.0, 5  # a mutant may take this many times the CPU time of the unchanged code, plus the slack


class MutationError(Exception):
    """What was requested, what was found, what to do: in one line."""


@dataclass(frozen=True)
class Room:
    """Sources of a room, and the tests that should notice their mutants. Names may be patterns below the checkout."""

    name: str
    sources: list[str]
    tests: list[str]
    run: list[str]  # commands that run the tests in the copy, in order; {tests}, {build}, {python} are replaced
    build: str = ""  # the target that contains them
    without: list[str] = field(default_factory=list)  # sources that are not changed
    weight: float = 1.0  # its share of the sample relative to the other rooms

    def files(self, patterns: list[str]) -> list[str]:
        """The files that match the patterns, relative to the checkout."""
        paths = {path for pattern in patterns for path in TREE.glob(pattern) if path.is_file()}
        return sorted(str(path.relative_to(TREE)) for path in paths)

    def mutants(self) -> list[Mutant]:
        """The mutants of all its sources."""
        left_out = self.files(self.without)
        paths = [path for path in self.files(self.sources) if path not in left_out]
        return [mutant for path in paths for mutant in mutants(path, (TREE / path).read_bytes())]

    def commands(self, copy: WorkingCopy) -> list[list[str]]:
        """The commands that run the tests, word by word."""
        places = {"tests": " ".join(self.files(self.tests)), "build": str(copy.build), "python": sys.executable}
        return [command.format(**places).split() for command in self.run]

    def fingerprint(self) -> str:
        """A hash of the current tests."""
        content = b"\0".join((TREE / path).read_bytes() for path in self.files(self.tests))
        return hashlib.sha256(content + "\0".join(self.run).encode()).hexdigest()


@dataclass(frozen=True)
class Equivalent:
    """A mutant that no test can distinguish from the unchanged code, according to a person."""

    path: str
    line: str
    change: str
    reason: str


@dataclass(frozen=True)
class Tried:
    """A mutant and its result."""

    mutant: Mutant
    outcome: str

    @property
    def survived(self) -> bool:
        """Whether no test has noticed it."""
        return self.outcome == SURVIVED


def read_rooms() -> tuple[list[Room], list[Equivalent]]:
    """The content of rooms.toml."""
    content = tomllib.loads(ROOMS.read_text(encoding="utf-8"))
    rooms = [Room(name, **room) for name, room in content["rooms"].items()]
    return rooms, [Equivalent(**row) for row in content.get("equivalent", [])]


class Trial:
    """Tries the mutants of one room in the copy, and records their results."""

    def __init__(self, room: Room, copy: WorkingCopy) -> None:
        self.room, self.copy = room, copy
        self.tests = room.fingerprint()
        self.cpu_limit_s: float | None = None  # unknown until the tests have run with the unchanged code

    def try_all(self, chosen: list[Mutant]) -> Iterator[Tried]:
        """One after the other; those of one source together, which needs the fewest compilations."""
        for mutant in sorted(chosen, key=lambda one: (one.path, one.begin)):
            outcome = self._known(mutant)
            if outcome is None:
                if self.cpu_limit_s is None:
                    self._try_unchanged()
                outcome = self._try(mutant)
                unfinished = self._kept_in(mutant).with_suffix(".unfinished")
                unfinished.write_text(json.dumps({"outcome": outcome, "tests": self.tests}))
                unfinished.rename(self._kept_in(mutant))
            yield Tried(mutant, outcome)

    def _kept_in(self, mutant: Mutant) -> Path:
        folder = FOLDER / "results" / self.room.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{mutant.identity[:24]}.json"

    def _known(self, mutant: Mutant) -> str | None:
        kept = self._kept_in(mutant)
        if not kept.exists():
            return None
        content = json.loads(kept.read_text())
        outcome = str(content["outcome"])
        return None if outcome == SURVIVED and content["tests"] != self.tests else outcome

    def _try_unchanged(self) -> None:
        print(f"==> {self.room.name}: the tests with the code as it is", flush=True)
        if self.room.build:
            self.copy.configure()
            built = self.copy.compile(self.room.build)
            if built.status != 0:
                raise MutationError(f"build {self.room.build}: it fails: {last_line(built.output)}; make develop test")
        ended = self._run_tests()
        if ended.status != 0:
            raise MutationError(
                f"run the tests of {self.room.name}: they fail without any mutant: {last_line(ended.output)}; fix them"
            )
        self.cpu_limit_s = TIMES_LONGER * ended.cpu_s + SLACK_S

    def _try(self, mutant: Mutant) -> str:
        changed = self.copy.tree / mutant.path
        source = changed.read_bytes()
        try:
            changed.write_bytes(mutant.applied(source))
            if self.room.build:
                if self.copy.compile(self.room.build).status != 0:
                    return NOT_COMPILED
            elif not _is_python(changed):
                return NOT_COMPILED
            ended = self._run_tests()
        finally:
            changed.write_bytes(source)
        return SURVIVED if ended.status == 0 else TIMED_OUT if ended.status is None else KILLED

    def _run_tests(self) -> Ended:
        cpu_s = 0.0
        for command in self.room.commands(self.copy):
            ended = self.copy.run(command, self.cpu_limit_s)
            cpu_s += ended.cpu_s
            if ended.status != 0:
                break
        return replace(ended, cpu_s=cpu_s)


def _is_python(path: Path) -> bool:
    try:
        compile(path.read_bytes(), path, "exec")
    except SyntaxError:
        return False
    return True


def draw(room: Room, number: int, seed: int, trial: Trial) -> list[Tried]:
    """Try `number` mutants that compile, or all there are, and return their results."""
    order = sorted(room.mutants(), key=lambda one: one.rank(seed))
    counted: list[Tried] = []
    while order and len(counted) < number:
        wanted = number - len(counted)
        chosen, order = order[:wanted], order[wanted:]
        for tried in trial.try_all(chosen):
            if tried.outcome != NOT_COMPILED:
                counted.append(tried)
            at = f"{tried.mutant.path}:{tried.mutant.line}"
            print(f"{room.name} {len(counted)}/{number}: {tried.outcome}: {at}: {tried.mutant.change}", flush=True)
    return counted


def shares(number: int, rooms: list[Room]) -> dict[str, int]:
    """Divide the number among the rooms by weight; equally if no room has a weight."""
    alike = not any(room.weight for room in rooms)
    reached = list(accumulate((1.0 if alike else room.weight for room in rooms), initial=0.0))
    ends = [round(number * weight / reached[-1]) for weight in reached]
    return {room.name: end - begin for room, (begin, end) in zip(rooms, pairwise(ends), strict=True)}


def is_listed(mutant: Mutant, equivalents: list[Equivalent]) -> bool:
    """Whether a person has found it equivalent to the unchanged code."""
    named = mutant.path, mutant.text, mutant.change
    return any((one.path, one.line, one.change) == named for one in equivalents)


def check_equivalents(rooms: list[Room], equivalents: list[Equivalent]) -> None:
    """Check that each listed mutant exists in a room: otherwise its line has changed, and it must be reviewed again."""
    there = {(one.path, one.text, one.change) for room in rooms for one in room.mutants()} if equivalents else set()
    for one in equivalents:
        if (one.path, one.line, one.change) not in there:
            raise MutationError(
                f"read {ROOMS.name}: no room has the equivalent mutant {one.change!r} of {one.path}: {one.line!r}; "
                "look at the line again, and change or delete the entry"
            )


def table(results: dict[str, list[Tried]], equivalents: list[Equivalent]) -> Iterator[str]:
    """The lines of the table: a row for each room, and one for all."""
    yield f"{'room':<12} {'mutants':>8} {'killed':>8} {'survived':>9} {'equivalent':>11} {'share killed':>13}"
    rows = dict(results)
    if len(rows) > 1:
        rows["all"] = [tried for of_room in results.values() for tried in of_room]
    for name, row in rows.items():
        survived = [tried for tried in row if tried.survived]
        equivalent = sum(is_listed(tried.mutant, equivalents) for tried in survived)
        killed = len(row) - len(survived)
        share = f"{killed / len(row):.1%}" if row else "-"
        yield f"{name:<12} {len(row):>8} {killed:>8} {len(survived):>9} {equivalent:>11} {share:>13}"


def difference(mutant: Mutant) -> Iterator[str]:
    """What the mutant changes, as lines of a diff."""
    source = (TREE / mutant.path).read_bytes()
    before, after = source.decode().splitlines(), mutant.applied(source).decode().splitlines()
    for line in difflib.unified_diff(before, after, n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"    {line}"


def report(results: dict[str, list[Tried]], equivalents: list[Equivalent]) -> None:
    """Print the survivors, those that should be dead first, then the table."""
    survivors = [tried.mutant for row in results.values() for tried in row if tried.survived]
    for mutant in sorted(survivors, key=lambda one: (is_listed(one, equivalents), one.path, one.line)):
        note = " (listed as equivalent)" if is_listed(mutant, equivalents) else ""
        print(f"\n{mutant.path}:{mutant.line} survived{note}: {mutant.change}", *difference(mutant), sep="\n")
    for tried in (tried for row in results.values() for tried in row if not tried.survived):
        if is_listed(tried.mutant, equivalents):
            print(f"\n{tried.mutant.path}:{tried.mutant.line}: {tried.mutant.change} is killed: not equivalent")
    print("", *table(results, equivalents), sep="\n")


def arguments(rooms: list[Room]) -> argparse.Namespace:
    """The options of the call."""
    parser = argparse.ArgumentParser(description="Tests of the rooms that compute, tested by mutants.")
    parser.add_argument("--number", type=int, help=f"how many mutants, together ({NUMBER} of all rooms)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--room", action="append", help="only of this one; may be given several times")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier calls have found")
    asked = parser.parse_args()
    names = [room.name for room in rooms]
    for name in asked.room or []:
        if name not in names:
            raise MutationError(f"mutate {name}: {ROOMS.name} has no such room; there are {', '.join(names)}")
    for room in rooms:
        if not asked.number and not room.weight and room.name in (asked.room or []):
            raise MutationError(f"mutate {room.name}: it has no part in the sample of all rooms; say --number (N=20)")
    if asked.number is not None and asked.number < 1:
        raise MutationError(f"draw {asked.number} mutants: a sample has at least one; give --number")
    return asked


def main() -> None:
    """Try the sample and report."""
    rooms, equivalents = read_rooms()
    asked = arguments(rooms)
    copy = WorkingCopy(CHECKOUT, TREE, FOLDER / "build")
    copy.update()
    check_equivalents(rooms, equivalents)
    if asked.fresh:
        shutil.rmtree(FOLDER / "results", ignore_errors=True)
    chosen = [room for room in rooms if (room.name in asked.room if asked.room else room.weight > 0)]
    numbers = shares(asked.number, chosen) if asked.number else shares(NUMBER, rooms)
    results = {room.name: draw(room, numbers[room.name], asked.seed, Trial(room, copy)) for room in chosen}
    report(results, equivalents)


def interrupted(*_: object) -> None:
    """End as by Ctrl-C, so that everything that was started is ended too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    try:
        main()
    except (MutationError, CopyError) as error:
        sys.exit(f"lull: mutation: {error}")
    except KeyboardInterrupt:
        print("lull: mutation: interrupted; call it again to go on", file=sys.stderr)
        sys.exit(130)
