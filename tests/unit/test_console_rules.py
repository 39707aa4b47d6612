"""Roles, acts and keys of the console: the tables that pages read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audits.domain import shortcuts
from audits.domain.acts import ACTS, acts_on
from audits.domain.roles import MEANINGS, Permission, Role, may, permissions_of, roles_with
from audits.domain.sampling import Verdict
from records.domain.facts import Status

CHANGES = frozenset(Permission) - {
    Permission.VIEW,
    Permission.AUDIT,
    Permission.SEE_ACCESS,
    Permission.SEE_TRAIL,
}


def test_every_role_sees_and_only_the_administrator_does_everything() -> None:
    assert all(may(role, Permission.VIEW) for role in Role)
    assert [role for role in Role if permissions_of(role) == frozenset(Permission)] == [
        Role.ADMINISTRATOR
    ]


def test_viewer_and_auditor_change_nothing() -> None:
    for role in (Role.VIEWER, Role.AUDITOR):
        assert not permissions_of(role) & CHANGES


def test_every_permission_has_words_and_somebody_who_has_it() -> None:
    assert set(MEANINGS) == set(Permission)
    assert all(roles_with(one) for one in Permission)


def test_no_act_applies_to_what_is_erased_and_each_status_has_its_own() -> None:
    assert acts_on(Status.ERASED) == ()
    assert {act.verb for act in acts_on(Status.QUARANTINED)} >= {"approve", "reject"}
    assert {act.verb for act in acts_on(Status.EVICTED)} == {"restore"}
    assert "approve" not in {act.verb for act in acts_on(Status.ACTIVE)}


def test_what_takes_a_fact_away_needs_a_reason() -> None:
    for act in ACTS:
        if act.style == "danger" or act.verb in ("hold", "restore", "edit", "extend"):
            assert act.needs_reason


def test_default_keys_are_all_different_and_digits_belong_to_verdicts() -> None:
    """In the queue digits choose reasons; the page of sampled facts has none to choose."""
    keys = [one.key for one in shortcuts.SHORTCUTS]
    assert len(set(keys)) == len(keys)
    digits = {one.id for one in shortcuts.SHORTCUTS if one.key.isdigit()}
    assert digits == {f"verify-{one}" for one in Verdict}


def test_remapped_key_replaces_the_default_and_a_taken_one_is_refused() -> None:
    chosen, errors = shortcuts.check_remap({"approve": "+", "reject": "r"})
    assert (chosen, errors) == ({"approve": "+"}, {})
    assert shortcuts.keymap(chosen)["approve"] == "+"
    assert "approve" in shortcuts.check_remap({"approve": "r"})[1]
    assert "approve" in shortcuts.check_remap({"approve": "3"})[1]
    assert "approve" in shortcuts.check_remap({"approve": "ctrl"})[1]


def test_two_acts_may_swap_their_keys() -> None:
    chosen, errors = shortcuts.check_remap({"approve": "r", "reject": "a"})
    assert errors == {}
    assert chosen == {"approve": "r", "reject": "a"}


@given(st.dictionaries(st.sampled_from([s.id for s in shortcuts.SHORTCUTS]), st.text(max_size=4)))
def test_accepted_keys_are_never_ambiguous(wanted: dict[str, str]) -> None:
    chosen, errors = shortcuts.check_remap(wanted)
    if not errors:
        keys = [key for key in shortcuts.keymap(chosen).values() if key]
        assert len(set(keys)) == len(keys)
