"""The environment that sets how the blocking calls of a command's MPI programs wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lull import _core
from lull.mpi.preload import preloaded


def policies() -> list[str]:
    """The values of `LULL_WAIT`."""
    return next(setting.choices.split("|") for setting in _core.settings() if setting.variable == "LULL_WAIT")


def waiting_by(
    policy: str, environment: Mapping[str, str], *, stats: bool = False, command: Sequence[str] = ()
) -> dict[str, str]:
    """`environment` for a command whose MPI programs wait by `policy`.

    Args:
        policy: One of `policies`.
        environment: The environment of the command.
        command: The command, for `preloaded`.
        stats: Whether they print the cost of waiting at their end; an existing `LULL_STATS` is kept.

    Raises:
        LullError: The interposer is missing.
    """
    tools = {"LULL_WAIT": policy}
    if stats and environment.get("LULL_STATS", "0") == "0":
        tools["LULL_STATS"] = "1"
    return preloaded(environment, tools=tools, command=command)
