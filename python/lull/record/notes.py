"""Warnings about the repeats of a record that a reader of its medians must know, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from lull.record.schema import Repeat, Run, succeeded
from lull.record.share import SHARED, load_of_others
from lull.statistics import formatting
from lull.statistics.groups import first_differs, two_groups


def notes(run: Run) -> list[str]:
    """All warnings about the successful repeats."""
    cores = sum(host.cores for host in run.hosts)
    return [*notes_of_times(run.repeats), *_left_behind(run.succeeded), *_others(run.succeeded, cores), *_visits(run)]


def notes_of_times(repeats: Sequence[Repeat]) -> list[str]:
    """Warnings if the first repeat, or one of two groups of repeats, did other work than the others."""
    good = succeeded(repeats)
    for what, values in (("", [one.wall_s for one in good]), (" of CPU time", [one.cpu_s for one in good])):
        if first_differs(values):
            others = formatting.si_range(min(values[1:]), max(values[1:]), "s")
            return [
                f"the first repeat took {formatting.si(values[0], 's')}{what}, the others {others}: it did other work"
                " (cold caches, files that were not there yet); --warmup 1 leaves it out"
            ]
        if (groups := two_groups(values)) is not None:
            fast, slow = groups
            return [
                f"the repeats are of two groups{what and ' by their CPU time'}: {len(fast)} of about"
                f" {formatting.si(sorted(fast)[len(fast) // 2], 's')} and {len(slow)} of about"
                f" {formatting.si(sorted(slow)[len(slow) // 2], 's')}; no median describes both"
            ]
    return []


def _left_behind(good: Sequence[Repeat]) -> list[str]:
    left = [repeat for repeat in good if repeat.left_behind]
    if not left:
        return []
    repeats = formatting.count(len(left), "repeat")
    return [
        f"{repeats} left processes behind: their time and energy are missing there, and may be in the repeats after it"
    ]


def _others(good: Sequence[Repeat], cores: int) -> list[str]:
    shares = [load for one in good if (load := load_of_others(one, cores)) is not None]
    if not shares or max(shares) < SHARED:
        return []
    return [
        f"other programs used up to {formatting.percent(max(shares))} of the CPUs: the energy includes"
        " theirs, and the time may be longer"
    ]


def _visits(run: Run) -> list[str]:
    missing = sum(repeat.visits_missing for repeat in run.succeeded)
    return (
        [f"{formatting.count(missing, 'visit')} to regions missing: figures of regions are too low"] if missing else []
    )
