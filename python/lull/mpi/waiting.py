"""How the blocking calls of a command's MPI programs wait: the environment that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lull import _core
from lull.mpi.preload import preloaded


def policies() -> list[str]:
    """The policies, as `LULL_WAIT` names them."""
    return next(setting.choices.split("|") for setting in _core.settings() if setting.variable == "LULL_WAIT")


def waiting_by(
    policy: str, environment: Mapping[str, str], *, stats: bool = False, command: Sequence[str] = ()
) -> dict[str, str]:
    """`environment` for a command whose MPI programs wait by `policy`.

    Args:
        policy: One of `policies`.
        environment: That of the command.
        command: What is started, for `preloaded`.
        stats: Whether they say at their end what waiting has cost; a `LULL_STATS` that is there stays.

    Raises:
        LullError: The interposer is not there.
    """
    tools = {"LULL_WAIT": policy}
    if stats and environment.get("LULL_STATS", "0") == "0":
        tools["LULL_STATS"] = "1"
    return preloaded(environment, tools=tools, command=command)
