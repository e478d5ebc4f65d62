"""The cases of tests/run/cases.toml for ctest: `run_cases.py LAUNCHER FOLDER TIMEOUT_S` prints its commands.

Cases that `make test` does not run with this seed have the label `rest`. `run_cases.py` alone prints the programs.
"""

import sys
import tomllib
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from covering import cover, seed_of_today

DESCRIPTION: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "run" / "cases.toml").read_text(encoding="utf-8")
)
# No wake-up may be missed (check.hpp): the time-out of a sleep is so long that only a missed wake-up reaches it.
ENVIRONMENT = ["SHMEM_SYMMETRIC_SIZE=64M", "LULL_WAIT_TIMEOUT_MS=10000"]


class RunCase(NamedTuple):
    """One run of a program of tests/run."""

    program: str
    pes: int
    nodes: int
    policy: str
    fabric: str

    @property
    def name(self) -> str:
        """The name of its test."""
        end = "" if self.fabric == "auto" else f".{self.fabric}"
        return f"run.{self.program}.{self.pes}pe.{self.nodes}node.{self.policy}{end}"

    @property
    def is_possible(self) -> bool:
        """Whether there are enough PEs for the nodes, and whether the fabric applies to them and to the program."""
        if self.nodes > self.pes or (self.nodes == 1 and self.fabric not in {"auto", "stages"}):
            return False
        if any(
            fnmatch(self.program, program)
            and any(
                fnmatch(name, fabric)
                for name in (self.fabric, f"{self.policy}.{self.fabric}")
                for fabric in fabrics.split()
            )
            for program, fabrics in DESCRIPTION["left_out"].items()
        ):
            return False
        of = DESCRIPTION["fabrics"][self.fabric].get("programs", ["*"])
        return any(fnmatch(self.program, pattern) for pattern in of)

    def commands(self, launcher: str, folder: str, timeout_s: str, labels: str) -> str:
        """The commands for ctest."""
        env = [*ENVIRONMENT, f"LULL_WAIT={self.policy}", *DESCRIPTION["fabrics"][self.fabric].get("env", [])]
        cores = 1 if self.policy == "interrupt" else 2  # a polling PE needs a core; a sleeping one leaves it to others
        arguments = f"-n {self.pes} --nodes {self.nodes} -- [==[{folder}/run_{self.program}]==]"
        return (
            f"add_test({self.name} [==[{launcher}]==] {arguments})\n"
            f"set_tests_properties({self.name} PROPERTIES TIMEOUT {timeout_s} PROCESSORS {cores}"
            f' COST {self.pes} LABELS "{labels}" ENVIRONMENT [==[{";".join(env)}]==])'
        )


def whole_product() -> list[RunCase]:
    """All possible cases."""
    factors = (DESCRIPTION[name] for name in ("programs", "pes", "nodes", "policies", "fabrics"))
    return [case for values in product(*factors) if (case := RunCase(*values)).is_possible]


def always() -> list[RunCase]:
    """The cases that have found a fault."""
    by_name = {case.name: case for case in whole_product()}
    return [by_name[name] for name in DESCRIPTION["always"]]


def chosen(seed: int) -> set[RunCase]:
    """The cases that `make test` runs with this seed; the cost grows with the PEs, and a start costs time too."""
    return cover(whole_product(), seed, always(), cost=lambda case: case.pes**0.5)


def main(arguments: list[str]) -> None:
    """Print the programs, or the commands of all cases."""
    if not arguments:
        print(";".join(DESCRIPTION["programs"]))
        return
    launcher, folder, timeout_s = arguments
    today = chosen(seed_of_today())
    for case in whole_product():
        print(case.commands(launcher, folder, timeout_s, "" if case in today else "rest"))


if __name__ == "__main__":
    main(sys.argv[1:])
