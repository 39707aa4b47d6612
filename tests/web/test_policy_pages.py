"""The policy pages: observed facts beside settings, changes previewed on writes and the store."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audits.domain.roles import Role
from audits.forms.validators import LABELS, TITLES, read_rows, rows_of, specs_of
from records import policies, policy_replay
from records.domain.facts import Cardinality, Policy
from records.domain.starter import load_starter_policies
from records.domain.validators import SETTINGS, spec_problems
from records.models import PredicatePolicy
from records.scope import workspace_scope

from .conftest import Person, make_person, put, text, words
from .test_settings_pages import policy_form

DAY = timedelta(days=1)
EDIT = "policies/edit/shoe_brand"


@pytest.fixture
def admin() -> Person:
    return make_person(role=Role.ADMINISTRATOR)


def brands(person: Person, *values: str) -> None:
    now = datetime.now(UTC)
    for place, value in enumerate(values):
        put(
            person.access,
            value,
            predicate="shoe_brand",
            session=f"s{place}",
            observed_at=now - (len(values) - place) * 10 * DAY,
        )


def test_observed_facts_stand_beside_the_settings(admin: Person, stranger: Person) -> None:
    brands(admin, "Adidas", "Puma", "PUMA!", "Nike")
    put(admin.access, "Asics", predicate="shoe_brand", subject="Bo")
    brands(stranger, "Reebok")
    page = text(admin.get("policies/of/shoe_brand"))
    assert 'data-held="1">1<' in page  # Bo
    assert 'data-held="3">1<' in page  # Ada, who has four
    assert "2 subjects" in words(admin.get("policies/of/shoe_brand"))
    assert 'data-left="text">5<' in page
    assert "Reebok" not in page
    form = policy_form(admin.get(EDIT)) | {"ttl_days": "25"}
    preview = admin.post(EDIT, form)
    assert 'data-expired="then">2<' in text(preview)


def test_change_is_tried_on_the_last_writes_and_on_the_store(admin: Person) -> None:
    brands(admin, "Adidas", "Puma", "Nike")
    form = policy_form(admin.get(EDIT)) | {"cardinality": "one"}
    preview = text(admin.post(EDIT, form))
    assert "The last 3 writes again" in preview
    assert "data-differing>2<" in preview
    assert "<td>added</td><td>updated</td>" in preview.replace("\n", "")
    assert 'data-effect="superseded">2<' in preview
    sample = preview.split('data-effect="superseded"')[0]
    assert ">Adidas</bdi>" in sample
    assert ">Puma</bdi>" in sample


def test_store_that_moved_on_since_the_preview_refuses_the_change(admin: Person) -> None:
    brands(admin, "Adidas", "Puma")
    form = policy_form(admin.get(EDIT)) | {"cardinality": "one"}
    shown = form | {"digest": policy_form(admin.post(EDIT, form))["digest"], "apply": "1"}
    other = admin.post(EDIT, shown | {"ttl_days": "7"})
    assert other.status_code == 409  # other settings than were shown
    put(admin.access, "Nike", predicate="shoe_brand", session="s9")
    late = admin.post(EDIT, shown)
    assert late.status_code == 409
    assert "no longer holds" in text(late)
    assert 'data-effect="superseded">2<' in text(late)
    with workspace_scope(admin.access.workspace_id):
        assert not PredicatePolicy.objects.filter(predicate="shoe_brand").exists()
    again = admin.post(EDIT, shown | {"digest": policy_form(late)["digest"]})
    assert again.status_code == 302
    with workspace_scope(admin.access.workspace_id):
        assert PredicatePolicy.objects.get(predicate="shoe_brand").cardinality == "one"


def test_validators_are_filled_in_row_by_row(admin: Person) -> None:
    brands(admin, "Adidas", "a very long brand name indeed")
    form = policy_form(admin.get(EDIT))
    del form["validators"]
    added = admin.post(EDIT, form | {"add_rule": "1", "new_rule": "max_length", "reason": ""})
    assert added.status_code == 200
    assert 'name="rule-0-kind" value="max_length"' in text(added)
    rule = {"rule-0-kind": "max_length", "rule-0-max": "many", "rule-0-outcome": "reject"}
    wrong = admin.post(EDIT, form | rule)
    assert wrong.status_code == 422
    assert "max: must be a whole number above 0" in words(wrong)
    assert 'value="many"' in text(wrong)
    preview = admin.post(EDIT, form | rule | {"rule-0-max": "10"})
    assert "data-broken>1<" in text(preview)
    assert "data-differing>1<" in text(preview)
    digest = {"digest": policy_form(preview)["digest"], "apply": "1"}
    assert admin.post(EDIT, form | rule | {"rule-0-max": "10"} | digest).status_code == 302
    live = _live(admin)
    assert live.validators == ({"kind": "max_length", "max": 10, "outcome": "reject"},)
    page = admin.get(EDIT)
    assert re.search(r'name="rule-0-max"[^>]*value="10"', text(page))
    form = policy_form(page) | {"rule-0-kind": "max_length", "rule-0-max": "10"}
    del form["validators"]
    gone = form | {"rule-0-remove": "1"}
    gone |= {"digest": policy_form(admin.post(EDIT, gone))["digest"], "apply": "1"}
    assert admin.post(EDIT, gone).status_code == 302
    assert _live(admin).validators == ()


def _live(person: Person) -> Policy:
    with workspace_scope(person.access.workspace_id):
        return policies.book(person.access.workspace_id).resolve("shoe_brand")


def test_every_kind_has_words_and_starter_validators_survive_the_form() -> None:
    assert set(TITLES) == set(SETTINGS)
    assert {name for names in SETTINGS.values() for name in names} <= set(LABELS)
    specs = [dict(spec) for policy in load_starter_policies() for spec in policy.validators]
    assert specs
    for start in range(0, len(specs), 20):
        some = specs[start : start + 20]
        data = _as_form(some)
        back = specs_of(read_rows(data))
        assert [_plain(one) for one in back] == [_plain(one) for one in some]
        assert all(not spec_problems(one) for one in back)


def _as_form(specs: list[dict[str, Any]]) -> Any:
    from django.http import QueryDict

    data = QueryDict(mutable=True)
    for place, row in enumerate(rows_of(specs)):
        data[f"rule-{place}-kind"] = row.kind
        data[f"rule-{place}-outcome"] = row.outcome
        for one in row.inputs:
            data[f"rule-{place}-{one['name']}"] = one["value"]
    return data


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in spec.items()
            if (name, v) != ("outcome", "quarantine")}  # fmt: skip


def test_a_link_may_suggest_a_setting_and_nothing_else(admin: Person) -> None:
    page = text(admin.get(EDIT, ttl_days="210", reason="because", protected="on"))
    assert re.search(r'name="ttl_days"[^>]*value="210"', page)
    assert "because</textarea>" not in page
    assert not re.search(r'name="protected"[^>]*checked', page)


def test_replay_under_the_same_policy_differs_in_nothing(admin: Person) -> None:
    brands(admin, "Adidas", "Puma", "Adidas", "Nike")
    with workspace_scope(admin.access.workspace_id):
        live = policies.book(admin.access.workspace_id).resolve("shoe_brand")
        same = policy_replay.replay(live, access=admin.access)
        most = policy_replay.replay(live, access=admin.access, most=2)
        foreign = make_person(role=Role.ADMINISTRATOR)
    assert (same.writes, same.differing) == (4, 0)
    assert most.writes == 2
    with workspace_scope(foreign.access.workspace_id):
        one = Policy("shoe_brand", cardinality=Cardinality.ONE)
        assert policy_replay.replay(one, access=foreign.access).writes == 0
