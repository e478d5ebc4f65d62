"""Whose jobs are visible to whom, as pure functions."""

from job_collector import ALICE, BOB, CAROL
from lull.jobs.visible import Rights, Visible, may_send_rows, refusal, visible_to

RIGHTS = Rights(
    admins=frozenset({CAROL}),
    heads={"physics": frozenset({BOB}), "ocean": frozenset({BOB, ALICE})},
    senders=frozenset({64005}),
)


def test_root_and_administrators_see_everything() -> None:
    assert visible_to(0, Rights()).everything
    assert visible_to(CAROL, RIGHTS).everything


def test_users_see_their_own_jobs_and_heads_those_of_their_projects() -> None:
    assert visible_to(7, RIGHTS) == Visible(False, 7)
    assert visible_to(BOB, RIGHTS) == Visible(False, BOB, ("ocean", "physics"))
    assert visible_to(ALICE, RIGHTS).projects == ("ocean",)


def test_who_names_another_user_gets_the_reason_instead_of_an_empty_table() -> None:
    nobody = visible_to(7, RIGHTS)
    assert refusal(nobody, 7, None) == ""
    assert "visible to that user" in refusal(nobody, BOB, None)
    assert "visible to that user" in refusal(nobody, BOB, "physics")
    assert refusal(visible_to(BOB, RIGHTS), ALICE, "physics") == ""
    assert refusal(visible_to(CAROL, RIGHTS), ALICE, None) == ""


def test_rows_come_from_root_and_the_named_senders() -> None:
    assert may_send_rows(0, Rights())
    assert may_send_rows(64005, RIGHTS)
    assert not may_send_rows(CAROL, RIGHTS)
