"""The site's file, by default /etc/lull/jobs.toml: where the collector is, who may see what, and prices.

`lull ship` and `lull jobs` read the address of the collector from it, `lull collect` everything else. Users may be
names or numbers. docs/reference/jobs.md describes it.
"""

from __future__ import annotations

import pwd
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from pydantic import ConfigDict, Field, ValidationError

from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import UsageError, describe_os_error
from lull.jobs.price import Prices
from lull.jobs.rows import Uid, first_of
from lull.jobs.visible import Rights

SITE_FILE: Final = Path("/etc/lull/jobs.toml")
SERVICE_USER: Final = "lull"

User = Uid | Annotated[str, Field(min_length=1)]


class Site(Prices):
    """The content of the site's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collector: str = ""
    collector_user: User = SERVICE_USER
    munge_socket: str = ""
    senders: tuple[User, ...] = (SERVICE_USER,)
    admins: tuple[User, ...] = ()
    heads: dict[str, tuple[User, ...]] = Field(default_factory=dict)

    def rights(self) -> Rights:
        """Who may do what, by user id.

        Raises:
            UsageError: It names a user who does not exist.
        """
        # The service's user need not exist where everything runs as root.
        senders = [user for user in self.senders if user != SERVICE_USER or exists(user)]
        heads = {project: _ids(users, f"heads.{project}") for project, users in self.heads.items()}
        return Rights(_ids(self.admins, "admins"), heads, _ids(senders, "senders"))

    def collector_uid(self) -> int:
        """As whom the collector runs; only this user can read what is sent to it.

        Raises:
            UsageError: There is no such user.
        """
        return id_of(self.collector_user, "collector_user")


def read_site(path: Path | None) -> Site:
    """The site's file; None: the usual one, which may be absent.

    Raises:
        UsageError: It cannot be read or is wrong.
    """
    asked = f"read the site's file {path or SITE_FILE}"
    try:
        return Site.model_validate(parse_toml((path or SITE_FILE).read_bytes()))
    except FileNotFoundError as error:
        if path is None:
            return Site()
        raise UsageError(asked, "there is no such file") from error
    except OSError as error:
        raise UsageError(asked, describe_os_error(error)) from error
    except DamagedError as error:
        raise UsageError(asked, f"it is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(asked, first_of(error.errors())) from error


def id_of(user: str | int, key: str) -> int:
    """The number of a user.

    Raises:
        UsageError: There is none of this name.
    """
    if isinstance(user, int):
        return user
    if user.isascii() and user.isdigit():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError as error:
        raise UsageError(f"find the user of {key}", f"there is no user {user!r}", "name another or a number") from error


def name_of(uid: int) -> str:
    """The name of a user on this machine; the number if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _ids(users: Iterable[str | int], key: str) -> frozenset[int]:
    return frozenset(id_of(user, key) for user in users)


def exists(user: str | int) -> bool:
    """Whether there is a user of this name, or a number is given."""
    try:
        id_of(user, "")
    except UsageError:
        return False
    return True
