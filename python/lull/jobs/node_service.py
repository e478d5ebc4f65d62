"""Questions to the service of this node, lull-meterd, over its socket for users.

The kernel names the user to the service, which refuses what this user may not see. The service is believed if it runs
as root or as the owner of the socket's folder, because every other user could listen only in a folder of their own.
docs/reference/service-protocol.md describes the messages.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.energy_kind import EnergyKind
from lull.base.errors import LullError, describe_os_error
from lull.jobs.connection import uid_of
from lull.jobs.rows import first_of

VERSION: Final = 1
MOST_ANSWER: Final = 1 << 16  # bytes
TIMEOUT_S: Final = 5.0

Form = TypeVar("Form", bound=BaseModel)


class Refused(LullError):
    """This user may not see what was requested."""


class NodeChannel(BaseModel):
    """A counter of the node and the division of its energy, in microjoules since the service counts."""

    model_config = ConfigDict(frozen=True)

    channel: str
    domain: str
    kind: EnergyKind
    node_uj: int
    open_uj: int
    closed_uj: int
    system_uj: int
    unheld_uj: int
    idle_w: float


class WholeNode(BaseModel):
    """The answer to `node`, for administrators."""

    model_config = ConfigDict(frozen=True)

    channels: list[NodeChannel]
    accounts: int
    readings: int
    lost: int
    rows_waiting: int
    rows_lost: int
    age_s: float


class OwnEnergy(BaseModel):
    """One channel of an own account."""

    model_config = ConfigDict(frozen=True)

    domain: str
    kind: EnergyKind
    uj: int
    low_uj: int
    high_uj: int


class OwnAccount(BaseModel):
    """An open account of this user; without energy while other users share the node."""

    model_config = ConfigDict(frozen=True)

    key: str
    project: str = ""
    energy: list[OwnEnergy] = []


class OwnAccounts(BaseModel):
    """The answer to `mine`."""

    model_config = ConfigDict(frozen=True)

    accounts: list[OwnAccount]


def ask_node(path: Path, question: str, form: type[Form]) -> Form:
    """The answer of the service at a socket to a question without further fields.

    Args:
        path: The socket, by default LULL_SERVICE_SOCKET.
        question: `node` or `mine`.
        form: The form of the answer.

    Raises:
        Refused: This user may not see it.
        LullError: There is no service, it is another user's, or its answer is wrong.
    """
    asked = f"ask the service at {path}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC) as connection:
            connection.settimeout(TIMEOUT_S)
            connection.connect(str(path))
            if uid_of(connection) not in (0, path.parent.stat().st_uid):
                raise LullError(asked, f"user {uid_of(connection)} listens there, to whom its folder does not belong")
            connection.sendall(json.dumps({"v": VERSION, "ask": question}).encode())
            content = connection.recv(MOST_ANSWER)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "systemctl status lull-meterd") from error
    return _read(asked, content, form)


def _read(asked: str, content: bytes, form: type[Form]) -> Form:
    try:
        answer: Any = parse_json(content)
        if isinstance(answer, dict) and isinstance(reason := answer.get("refused"), str):
            raise Refused(asked, reason, "run as root or as a member of the group lull-admin")
        return form.model_validate(answer)
    except (DamagedError, ValidationError) as error:
        words = first_of(error.errors()) if isinstance(error, ValidationError) else str(error)
        raise LullError(asked, f"its answer is wrong: {words}", "both need the same version of Lull") from error
