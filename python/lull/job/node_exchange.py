"""The exchange between the nodes of one job: a hidden folder next to the record, on a shared file system.

    .NAME.job-ID/KEY.json   announcement of node KEY: its ranks, a heartbeat, and whether it has submitted its part
    .NAME.job-ID/KEY/       the part of node KEY: its record and part.json, whole or absent

There are no messages over a network, and no clocks are compared: a node is silent if its heartbeat has not changed for
the timeout, by the clock of the node that waits. Of the nodes that are not silent, the one with the lowest rank merges.
It removes the folder at the end; for the others, this means that the record is written.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lull import record
from lull.base.errors import LullError, describe_os_error
from lull.record.part import NodePart, NodeRecord

PART_FILE = "part.json"
CLAIM_FILE = "merger"
BEATS_PER_TIMEOUT = 6
LOOK_S_PER_NODE = 0.002


class Announcement(BaseModel):
    """The announcement of a node while its ranks run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    node: str
    ranks: list[int]
    beat: int
    submitted: bool
    left: bool = False  # it will not merge, because one of its ranks failed and must end for its launcher


@dataclass
class _ObservedAnnouncement:
    """An announcement, and when this version was first seen, by our own clock."""

    announcement: Announcement
    since: float


class NodeExchange:
    """One node's view of the folder.

    Args:
        folder: The folder, equal on all nodes of the job.
        key: This node's name in the folder.
        node: This node's name in messages.
        size: Ranks of the whole job.
        timeout_s: Longest silence of a node, and longest wait for a rank.

    Raises:
        LullError: The folder cannot be created.
    """

    def __init__(self, folder: Path, key: str, node: str, size: int, timeout_s: float) -> None:
        self.folder = folder
        self._key = key
        self._node = node
        self._size = size
        self._timeout_s = timeout_s
        self._own: Announcement | None = None
        self._announced_at = 0.0
        self._seen: dict[str, _ObservedAnnouncement] = {}
        self._news_at = time.monotonic()
        self._looked_at = 0.0
        self.no_more_ranks = False  # set if the missing ranks are known not to be measured
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LullError(f"exchange with the other nodes in {folder}", describe_os_error(error)) from error

    def announced_here(self) -> list[int]:
        """The ranks that an earlier reader of this node announced."""
        found = self._read(self._key)
        return found.ranks if found is not None else []

    def announce(self, ranks: Iterable[int], *, submitted: bool = False, left: bool = False) -> None:
        """Announce that this node is alive; written if something has changed or a heartbeat is due.

        Raises:
            LullError: It cannot be written.
        """
        now = time.monotonic()
        mine = sorted(ranks)
        before = self._own
        changed = before is None or (before.ranks, before.submitted, before.left) != (mine, submitted, left)
        if not changed and now - self._announced_at < self._timeout_s / BEATS_PER_TIMEOUT:
            return
        self._own = Announcement(
            node=self._node,
            ranks=mine,
            beat=before.beat + 1 if before else time.time_ns(),
            submitted=submitted,
            left=left,
        )
        self._announced_at = now
        if changed and not submitted:
            self._news_at = now
        aside = self.folder / f".{self._key}.aside"
        try:
            aside.write_text(self._own.model_dump_json(), encoding="utf-8")
            aside.rename(self.folder / f"{self._key}.json")
        except OSError as error:
            if self.is_over():
                if submitted:  # the record is written, which was awaited
                    return
                raise LullError(
                    f"measure on {self._node}",
                    f"the others heard nothing of it for {self._timeout_s:g} s and closed the record without it",
                    "raise LULL_NODE_TIMEOUT_S",
                ) from error
            raise LullError(f"exchange with the other nodes in {self.folder}", describe_os_error(error)) from error

    def submit(self, of: NodeRecord) -> None:
        """Write this node's part, whole or not at all; then announce it.

        Raises:
            LullError: It cannot be written.
        """
        place = self.folder / self._key
        if place.exists():  # an earlier reader of this node has written it; this one knows the same
            shutil.rmtree(place, ignore_errors=True)
        part = of.part.model_dump_json(indent=1).encode()
        record.write(place, of.run, of.samples, beside={PART_FILE: part})
        self.announce([rank.rank for rank in of.part.ranks], submitted=True)

    def all_known(self) -> bool:
        """Whether every rank of the job has been announced, or there was no news for the timeout."""
        self._look()
        known = {rank for seen in self._seen.values() for rank in seen.announcement.ranks}
        return len(known) >= self._size or self.is_quiet()

    def is_complete(self, *, hurry: bool = False) -> bool:
        """Whether all expected parts have been submitted; with `hurry`, without waiting for unannounced ranks."""
        self._look()
        arrived = {rank for a in self._announcements() if a.submitted for rank in a.ranks}
        if len(arrived) >= self._size:
            return True
        awaited = any(
            not seen.announcement.submitted and not self._silent(key, seen) for key, seen in self._seen.items()
        )
        return not awaited and (hurry or self.is_quiet())

    def claim(self) -> bool:
        """Claim the merge, if it is this node's: that of the lowest rank among live nodes that have submitted.

        If all of them have left, the first node to claim gets it. Returns True for one node only.
        """
        self._look()
        staying = {
            key: min(seen.announcement.ranks)
            for key, seen in self._seen.items()
            if seen.announcement.submitted
            and seen.announcement.ranks
            and not seen.announcement.left
            and not self._silent(key, seen)
        }
        if staying and min(staying, key=staying.__getitem__) != self._key:
            return False
        taken = self.folder / CLAIM_FILE
        try:
            with taken.open("x", encoding="utf-8") as file:
                file.write(self._key)
            return True
        except FileExistsError:
            with suppress(OSError):
                holder = taken.read_text(encoding="utf-8")
                seen = self._seen.get(holder)
                if seen is not None and self._silent(holder, seen):  # it died during the merge
                    taken.unlink(missing_ok=True)
        except OSError:
            pass
        return False

    def knows_others(self) -> bool:
        """Whether another node is known."""
        self._look()
        return any(key != self._key for key in self._seen)

    def has_rank_zero(self) -> bool:
        """Whether rank 0 is on this node, which checks often; the others check seldom."""
        return self._own is not None and 0 in self._own.ranks

    def parts(self) -> list[NodeRecord]:
        """All submitted parts, by their lowest rank.

        Raises:
            LullError: One of them is damaged.
        """
        found = []
        for place in sorted(self.folder.glob(f"*/{PART_FILE}")):
            if place.parent.name.startswith("."):
                continue
            try:
                part = NodePart.model_validate_json(place.read_bytes())
            except (OSError, ValidationError) as error:
                raise LullError(f"read the part of a node in {place.parent}", "it is damaged") from error
            found.append(NodeRecord(part, record.read(place.parent), record.read_samples(place.parent)))
        return sorted(found, key=lambda of: min((rank.rank for rank in of.part.ranks), default=self._size))

    def is_over(self) -> bool:
        """Whether the folder is gone, because the record is written."""
        return not self.folder.is_dir()

    def close(self) -> None:
        """Remove the folder, atomically for all nodes."""
        gone = self.folder.with_name(f"{self.folder.name}.done-{self._key}")
        with suppress(OSError):
            self.folder.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def withdraw(self) -> None:
        """Remove this node's files, and the folder if it is empty then."""
        with suppress(OSError):
            if (self.folder / CLAIM_FILE).read_text(encoding="utf-8") == self._key:
                (self.folder / CLAIM_FILE).unlink()
        for name in (f"{self._key}.json", f".{self._key}.aside"):
            with suppress(OSError):
                (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / self._key, ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _announcements(self) -> list[Announcement]:
        return [seen.announcement for seen in self._seen.values()]

    def is_quiet(self) -> bool:
        """Whether there was no news for the timeout, or no more ranks will come."""
        return self.no_more_ranks or time.monotonic() - self._news_at > self._timeout_s

    def _silent(self, key: str, seen: _ObservedAnnouncement) -> bool:
        return key != self._key and time.monotonic() - seen.since > self._timeout_s

    def _look(self) -> None:
        """Read the announcements; with many nodes less often, because each is a file on a shared file system."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_S_PER_NODE * len(self._seen):
            return
        self._looked_at = now
        for path in self.folder.glob("*.json"):
            key = path.name.removesuffix(".json")
            found = self._read(key)
            before = self._seen.get(key)
            if found is None or (before is not None and before.announcement == found):
                continue
            is_new = before is None or before.announcement.model_copy(update={"beat": found.beat}) != found
            if is_new and key != self._key:
                self._news_at = now
            self._seen[key] = _ObservedAnnouncement(found, now)

    def _read(self, key: str) -> Announcement | None:
        try:
            return Announcement.model_validate_json((self.folder / f"{key}.json").read_bytes())
        except (OSError, ValidationError):  # missing, or incomplete in the cache of the file system
            return None
