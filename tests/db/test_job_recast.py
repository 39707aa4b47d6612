"""The job that brings stored facts over to changed policies."""

from __future__ import annotations

from dataclasses import replace

from records.access import Access
from records.domain.facts import Cardinality
from records.jobs import catalogue
from records.jobs.recast import bring_over
from records.jobs.runs import perform
from records.policies import book, change
from records.scope import workspace_scope

from .test_curate import live
from .test_write import fact, put


def test_what_a_change_left_over_is_done_by_the_job_once(access: Access) -> None:
    for value in ("gold", "silver"):
        put(access, fact(predicate="plan tier x", value=value))
    with workspace_scope(access.workspace_id):
        policy = book(access.workspace_id).resolve("plan tier x")
        change(replace(policy, cardinality=Cardinality.ONE), reason="test", access=access)
    run = perform(catalogue.RECAST, access.workspace_id, bring_over)
    assert run is not None
    assert run.changed == {"records": 2, "superseded": 1}
    assert live(access) == ["silver"]
    again = perform(catalogue.RECAST, access.workspace_id, bring_over)
    assert again is not None
    assert again.changed == {}
