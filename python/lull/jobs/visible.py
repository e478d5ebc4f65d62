"""Who may see which jobs, and who may send rows: pure functions, and the only place that decides it.

A user sees their own jobs, the head of a project the jobs of that project, an administrator all jobs. Whoever asks is
named by the kernel or by munge, never by the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rights:
    """What the site's file says, by user id.

    Args:
        admins: Who sees all jobs, besides root.
        heads: Who sees the jobs of a project, by project.
        senders: Who may send rows, besides root.
    """

    admins: frozenset[int] = frozenset()
    heads: Mapping[str, frozenset[int]] = field(default_factory=dict)
    senders: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Visible:
    """The jobs that someone may see: those of `uid` and of `projects`, or all of them."""

    everything: bool
    uid: int
    projects: tuple[str, ...] = ()


def visible_to(uid: int, rights: Rights) -> Visible:
    """The jobs that this user may see."""
    if uid == 0 or uid in rights.admins:
        return Visible(True, uid)
    return Visible(False, uid, tuple(sorted(project for project, heads in rights.heads.items() if uid in heads)))


def refusal(visible: Visible, uid: int | None, project: str | None) -> str:
    """Why this user may not ask for the jobs of another user or of a project; "" if the user may.

    Without it, the answer would be that there are no such jobs.
    """
    if visible.everything or (project is not None and project in visible.projects):
        return ""
    if uid is not None and uid != visible.uid and not visible.projects:
        return f"jobs of user {uid} are visible to that user, to the heads of their projects and to administrators"
    return ""


def may_send_rows(uid: int, rights: Rights) -> bool:
    """Whether rows from this user are stored."""
    return uid == 0 or uid in rights.senders
