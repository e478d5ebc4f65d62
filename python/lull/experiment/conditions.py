"""The conditions of an experiment: what must be the same for its runs to belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from lull.base.content import PROGRAM, fingerprint
from lull.base.text import readable

OF_A_CALL = frozenset({"LULL_RECORD", "LULL_HOSTS"})  # settings that say nothing about the runs


class Conditions(BaseModel):
    """What an experiment keeps on disk, to be compared with the conditions of the next call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str  # the kind of experiment: study, sweep, measurement
    name: str
    options: list[str] = []  # those that choose another experiment of this name: --quick
    description: str  # hash of the description's content, as far as it affects runs
    settings: dict[str, str]  # in effect for the runs, by name
    node: str
    programs: dict[str, str] = {}  # path of a program or an input -> what identifies its content
    points: list[str] = []  # names of the points, which are those of the folders of their records
    series: str = Field(default_factory=lambda: uuid4().hex)  # names the rounds of this experiment; not compared
    runs_before: dict[str, int] = {}  # point -> runs that were there before this experiment; not compared

    def differences(self, now: Conditions) -> list[str]:
        """What differs between these conditions and `now`, in words."""
        words = []
        if (self.what, self.name) != (now.what, now.name):
            words.append(f"it holds the {self.what} {self.name}")
        for option in sorted({*self.options} ^ {*now.options}):
            words.append(f"it was started with{'' if option in self.options else 'out'} {option}")
        if self.options == now.options and self.description != now.description:
            words.append("its description has changed")
        for variable in sorted({*self.settings, *now.settings}):
            before, after = self.settings.get(variable, ""), now.settings.get(variable, "")
            if before != after:
                words.append(f"{variable} was {before or 'empty'} and is {after or 'empty'}")
        if self.node != now.node:
            words.append(f"it ran on {self.node}")
        if self.description == now.description:
            words.extend(self._changed_files(now))
        return words

    def is_about(self, now: Conditions) -> bool:
        """Whether both describe the same experiment, under whatever conditions."""
        same = ("what", "name", "options", "description")
        return all(getattr(self, field) == getattr(now, field) for field in same)

    def _changed_files(self, now: Conditions) -> list[str]:
        """Which files have changed; a new file that is not a program may have been written by the runs."""
        words = []
        for path, state in now.programs.items():
            is_program = state.startswith(PROGRAM)
            if self.programs.get(path, "" if is_program else state) != state:
                words.append(f"{Path(path).name} has {'been rebuilt' if is_program else 'changed'}")
        return words


def value_to_compare(value: str) -> str:
    """A setting without the ids of processes, such as those of virtual hosts, which are others the next time."""
    return readable(re.sub(r"@\d+", "", value))


def identified(paths: Iterable[Path]) -> dict[str, str]:
    """Programs and inputs by path, each with what identifies its content."""
    return {readable(str(path)): fingerprint(path) for path in sorted(paths)}
