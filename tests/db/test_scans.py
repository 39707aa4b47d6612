"""Scans: no fact missed or counted twice, whoever works on them and whoever is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections

from audits import operations
from audits.domain.roles import Role
from audits.domain.scope import Scope
from audits.models import ReviewDecision
from audits.operations.running import perform_waiting
from audits.scans import estimate, replay_decisions
from memconsole.embedded import leash
from records import curate, gate_editing, gate_replay, scans
from records.access import Access
from records.domain.facts import HoldReason, Outcome, Status
from records.domain.gate import default_ruleset
from records.domain.ids import uuid7
from records.items import BadRequest, Conflict, NotFound
from records.jobs import catalogue, runs
from records.jobs.rescan import rescan
from records.models import Event, MemoryRecord, Scan, ScanHit, ScanRange, Workspace
from records.scans import Chosen, Mode, Rules, candidates, finishing, planning, working
from records.scope import workspace_scope

from . import test_rulesets as rulesets_tests
from .operating import again, make_person, preview, run, undo
from .test_rescan import poison, put_many
from .test_rulesets import CLINIC

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut few facts into several ranges."""
    monkeypatch.setattr(planning, "RANGE", 4)


def begin(access: Access, rules: Rules = Rules.ACTIVE, **more: Any) -> Scan:
    with workspace_scope(access.workspace_id):
        return scans.start(rules, access=access, now=datetime.now(UTC), **more)


def scan(access: Access, rules: Rules = Rules.ACTIVE, **more: Any) -> Scan:
    """Start a scan, and work on it to its end."""
    started = begin(access, rules, **more)
    scans.work(access.workspace_id)
    return reread(access, started)


def reread(access: Access, one: Scan) -> Scan:
    with workspace_scope(access.workspace_id):
        return Scan.objects.get(id=one.id)


def hits(access: Access, one: Scan) -> dict[UUID, str]:
    with workspace_scope(access.workspace_id):
        found = ScanHit.objects.filter(scan_id=one.id).values_list("record_id", "kind")
        return dict(found)


def status(access: Access, record_id: UUID) -> str:
    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.get(id=record_id).status


def clean(record_id: UUID) -> None:
    with connections["maintenance"].cursor() as cursor:
        cursor.execute("UPDATE memory_record SET content = 'plain' WHERE id = %s", [record_id])


def everything(access: Access) -> list[tuple[Any, ...]]:
    """Return all that a dry run must not touch."""
    with workspace_scope(access.workspace_id):
        found = MemoryRecord.objects.order_by("id")
        return list(found.values_list("id", "status", "version", "hold_reason", "ruleset"))


def test_dry_scan_finds_what_no_longer_passes_and_changes_nothing(
    access: Access, stranger: Access
) -> None:
    ids = put_many(access, 10)
    (theirs,) = put_many(stranger, 1)
    poison(ids[3])
    poison(theirs)
    before = everything(access)
    done = scan(access)
    assert (done.state, done.total, done.checked, done.new) == ("done", 10, 10, 1)
    assert hits(access, done) == {ids[3]: "new"}
    assert everything(access) == before
    with workspace_scope(access.workspace_id):
        assert not ScanRange.objects.filter(scan_id=done.id).exists()
        told = Event.objects.filter(target_id=done.id).order_by("id")
        assert [one.action for one in told] == ["scan.started", "scan.finished"]
    with workspace_scope(stranger.workspace_id):
        assert not Scan.objects.exists()
        assert not ScanHit.objects.exists()
        with pytest.raises(NotFound):
            scans.pause(done.id, access=stranger, now=NOW)
        with pytest.raises(NotFound):
            scans.load(done.id, workspace_id=stranger.workspace_id)


def test_scan_says_what_is_new_known_and_cleared(access: Access) -> None:
    ids = put_many(access, 6)
    poison(ids[0])
    poison(ids[1])
    first = scan(access)
    clean(ids[1])
    poison(ids[2])
    second = scan(access)
    assert second.previous_id == first.id
    assert hits(access, second) == {ids[0]: "known", ids[1]: "cleared", ids[2]: "new"}
    assert (second.new, second.known, second.cleared) == (1, 1, 1)
    assert second.result["diff"] == {"left": 0, "cleared": 1, "still": 1}
    third = scan(access)
    assert hits(access, third) == {ids[0]: "known", ids[2]: "known"}, "cleared once is enough"


def test_held_fact_that_passes_now_is_cleared_and_stays_held(access: Access) -> None:
    held, by_hand = put_many(access, 2)
    poison(held)
    runs.perform(catalogue.RESCAN, access.workspace_id, rescan)
    assert status(access, held) == Status.QUARANTINED
    curate.hold([by_hand], HoldReason.MANUAL, access=access)
    done = scan(access)
    assert hits(access, done) == {held: "known"}
    clean(held)
    done = scan(access)
    assert hits(access, done) == {held: "cleared"}, "what a person holds is no rule's business"
    assert status(access, held) == Status.QUARANTINED


def test_fact_that_a_person_let_in_is_no_new_hit(access: Access) -> None:
    (one,) = put_many(access, 1)
    poison(one)
    runs.perform(catalogue.RESCAN, access.workspace_id, rescan)
    curate.approve(one, access=access, reason="harmless")
    done = scan(access)
    assert (hits(access, done), done.approved) == ({one: "known"}, 1)


def test_scan_judges_by_the_draft_as_it_was_when_it_began(access: Access) -> None:
    ids = put_many(access, 3)
    with workspace_scope(access.workspace_id):
        with pytest.raises(BadRequest):
            scans.start(Rules.DRAFT, access=access, now=NOW)
        draft = gate_editing.start_draft(access=access, now=NOW)
        entry = {
            "id": "own.thing", "outcome": "quarantine", "severity": "low", "reason": "No things.",
            "scope": "text", "languages": ["en"], "phrases": ["thing 1"], "patterns": [],
            "must": ["it is thing 1"], "must_not": ["it is thing 2"], "quotable": False,
        }  # fmt: skip
        gate_editing.put_rule(entry, revision=draft.revision, access=access, now=NOW)
    started = begin(access, Rules.DRAFT)
    with workspace_scope(access.workspace_id):
        draft = gate_editing.start_draft(access=access, now=NOW)
        gate_editing.drop_rule("own.thing", revision=draft.revision, access=access, now=NOW)
    scans.work(access.workspace_id)
    done = reread(access, started)
    assert hits(access, done) == {ids[1]: "new"}
    assert done.result["rules"] == {"own.thing": {"new": 1}}
    assert hits(access, scan(access)) == {ids[1]: "cleared"}, "the rules that rule let it through"


def test_softened_rules_are_those_of_the_draft_and_find_less(access: Access) -> None:
    (one,) = put_many(access, 1)
    poison(one)
    found = scan(access)
    with workspace_scope(access.workspace_id):
        draft = gate_editing.start_draft(access=access, now=NOW)
        softened = [name for name in found.result["rules"] if default_ruleset().rule(name)]
        for rule in softened:
            draft = gate_editing.soften(
                rule, Outcome.ALLOW, "noise here", revision=draft.revision, access=access, now=NOW
            )
    assert softened
    milder = scan(access, Rules.SOFTENED)
    assert set(milder.result["rules"]) == set(found.result["rules"]) - set(softened)
    shipped = scan(access, Rules.SHIPPED)
    assert set(shipped.result["rules"]) == set(found.result["rules"])


def test_two_workers_at_once_share_a_scan_fact_by_fact(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = put_many(access, 40)
    for one in ids[::5]:
        poison(one)
    started = begin(access)
    judged: list[tuple[int, UUID]] = []
    really = candidates.judge
    both = threading.Barrier(2, timeout=30)
    met = threading.local()

    def judge(one: candidates.Candidate, *rest: Any) -> Any:
        if not getattr(met, "done", False):
            met.done = True
            both.wait()  # each has a range of its own before either goes on
        judged.append((threading.get_ident(), one.id))
        return really(one, *rest)

    monkeypatch.setattr(candidates, "judge", judge)
    crowd(lambda: scans.work(access.workspace_id), 2)
    done = reread(access, started)
    assert (done.state, done.checked, done.new) == ("done", 40, 8)
    assert sorted(one for _, one in judged) == sorted(ids), "each fact was judged by one of them"
    assert len({worker for worker, _ in judged}) == 2
    assert set(hits(access, done)) == set(ids[::5])


def crowd(work: Callable[[], None], count: int) -> None:
    errors: list[BaseException] = []

    def one() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised in the test's own thread
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


KILLED = """
import os, signal, sys
from uuid import UUID
import django
django.setup()
from records import scans
from records.scans import candidates
really, seen = candidates.judge, []
def judge(one, *rest):
    seen.append(one.id)
    if len(seen) == 10:
        os.kill(os.getpid(), signal.SIGKILL)
    return really(one, *rest)
candidates.judge = judge
scans.work(UUID(sys.argv[1]))
"""


def test_range_of_a_killed_worker_is_taken_again(access: Access) -> None:
    ids = put_many(access, 18)
    for one in ids[::3]:
        poison(one)
    started = begin(access)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(access.workspace_id)],
        cwd=leash.CODE,
        env=leash.environment(DJANGO_SETTINGS_MODULE="memconsole.settings"),
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    with workspace_scope(access.workspace_id):
        ranges = ScanRange.objects.filter(scan_id=started.id).order_by("place")
        assert [one.checked for one in ranges] == [4, 4, 0, 0, 0], "two ranges were committed"
        noted = set(ScanHit.objects.values_list("record_id", flat=True))
        assert noted == {one for one in ids[:8] if one in ids[::3]}
    scans.work(access.workspace_id)
    done = reread(access, started)
    assert (done.state, done.checked, done.new) == ("done", 18, 6)
    assert set(hits(access, done)) == set(ids[::3])


def test_paused_scan_goes_on_where_it_stopped(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = put_many(access, 12)
    poison(ids[0])
    poison(ids[11])
    started = begin(access)
    assert working.take_range(started) is True
    with workspace_scope(access.workspace_id):
        paused = scans.pause(started.id, access=access, now=datetime.now(UTC))
        assert paused.state == "paused"
        with pytest.raises(Conflict):
            scans.pause(started.id, access=access, now=NOW)
    scans.work(access.workspace_id)
    with workspace_scope(access.workspace_id):
        assert scans.sums(started)["checked"] == 4, "nobody works on what is paused"
        scans.resume(started.id, access=access, now=datetime.now(UTC))
    scans.work(access.workspace_id)
    done = reread(access, started)
    assert (done.state, done.checked, done.new) == ("done", 12, 2)


def test_pause_in_the_middle_of_a_range_takes_the_range_back(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_many(access, 8)
    started = begin(access)
    really = candidates.judge
    asked: list[bool] = []

    def judge(one: candidates.Candidate, *rest: Any) -> Any:
        if not asked:
            asked.append(True)
            crowd(pause, 1)
        return really(one, *rest)

    def pause() -> None:
        with workspace_scope(access.workspace_id):
            scans.pause(started.id, access=access, now=datetime.now(UTC))

    monkeypatch.setattr(candidates, "judge", judge)
    assert working.take_range(started) is False
    with workspace_scope(access.workspace_id):
        assert scans.sums(started)["checked"] == 0


def test_cancelled_scan_keeps_what_it_found_and_says_that_it_is_partial(access: Access) -> None:
    ids = put_many(access, 12)
    poison(ids[0])
    poison(ids[11])
    started = begin(access)
    working.take_range(started)
    with workspace_scope(access.workspace_id):
        ended = scans.cancel(started.id, access=access, now=datetime.now(UTC))
    assert (ended.state, ended.checked, ended.total, ended.new) == ("cancelled", 4, 12, 1)
    scans.work(access.workspace_id)
    assert reread(access, started).checked == 4
    later = begin(access)
    assert later.previous_id is None, "a partial scan is nothing to compare with"
    with workspace_scope(access.workspace_id):
        assert not ScanRange.objects.filter(scan_id=started.id).exists(), "its ids are tidied away"


def test_fact_that_cannot_be_judged_is_counted_and_does_not_stop_the_scan(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = put_many(access, 6)
    really = candidates.judge

    def judge(one: candidates.Candidate, *rest: Any) -> Any:
        if one.id == ids[2]:
            raise ValueError("a rule that this text breaks")
        return really(one, *rest)

    monkeypatch.setattr(candidates, "judge", judge)
    done = scan(access)
    assert (done.state, done.checked, done.failed) == ("done", 5, 1)


def test_range_that_fails_again_and_again_ends_the_scan_which_can_be_taken_up(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_many(access, 6)

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a text that must not be kept")

    with monkeypatch.context() as patched:
        patched.setattr(working, "do_range", broken)
        failed = scan(access)
    assert (failed.state, failed.error) == ("failed", "RuntimeError")
    with workspace_scope(access.workspace_id):
        scans.resume(failed.id, access=access, now=datetime.now(UTC))
    scans.work(access.workspace_id)
    done = reread(access, failed)
    assert (done.state, done.checked, done.error) == ("done", 6, "")


def test_facts_that_left_service_since_the_start_are_said_to_be_gone(access: Access) -> None:
    ids = put_many(access, 6)
    started = begin(access)
    curate.retract(ids[:2], "wrong", access=access)
    later = put_many(access, 1, subject="Bob")
    scans.work(access.workspace_id)
    done = reread(access, started)
    assert (done.checked, done.gone, done.total) == (4, 2, 6)
    assert later[0] not in hits(access, done)


def test_scan_of_a_filter_reads_only_what_the_filter_shows(access: Access) -> None:
    ids = put_many(access, 4)
    (other,) = put_many(access, 1, subject="Bob")
    poison(ids[0])
    poison(other)
    chosen = Chosen(
        "SELECT id FROM memory_record WHERE subject_key = %(subject)s",
        {"subject": "bob"},
        {"subject": "Bob"},
        "subject Bob",
    )
    done = scan(access, chosen=chosen)
    assert (done.total, hits(access, done)) == (1, {other: "new"})
    whole = scan(access)
    assert whole.previous_id is None, "another scope is nothing to compare with"


def test_daily_rescan_is_a_scan_that_holds_and_others_may_help(access: Access) -> None:
    ids = put_many(access, 20)
    for one in ids[::4]:
        poison(one)

    def daily() -> None:
        runs.perform(catalogue.RESCAN, access.workspace_id, rescan)
        connections.close_all()

    def helper() -> None:
        scans.work(access.workspace_id)

    daily_thread = threading.Thread(target=daily)
    daily_thread.start()
    crowd(helper, 1)
    daily_thread.join()
    with workspace_scope(access.workspace_id):
        (held,) = Scan.objects.filter(mode="hold")
    assert (held.state, held.checked, held.held, held.new) == ("done", 20, 5, 5)
    assert {status(access, one) for one in ids[::4]} == {Status.QUARANTINED}
    again_run = runs.perform(catalogue.RESCAN, access.workspace_id, rescan)
    assert again_run is not None
    assert again_run.changed == {"checked": 15}, "a second one changes nothing"


def test_new_hits_are_sent_to_the_queue_and_brought_back(access: Access, stranger: Access) -> None:
    ids = put_many(access, 9)
    bad = ids[::3]
    for one in bad:
        poison(one)
    done = scan(access)
    before = everything(access)
    made = preview(access, Scope(scan_id=done.id), "hold")
    assert made.groups == {"take": 3, "held": 0, "gone": 0}
    assert everything(access) == before
    with pytest.raises(NotFound):
        operations.preview_undo(made.id, access=stranger, user_id=None)
    ran = run(access, made)
    assert (ran.state, ran.changed, ran.skipped) == ("done", 3, 0)
    with workspace_scope(access.workspace_id):
        held = MemoryRecord.objects.filter(status="quarantined", hold_reason="rescan")
        assert set(held.values_list("id", flat=True)) == set(bad)
        assert all(one.findings for one in held)
        (event,) = Event.objects.filter(target_id=bad[0], action="record.held")
        assert event.details["operation"] == str(made.id)
    assert ran.undo_until is not None
    back = undo(access, ran)
    assert (back.state, back.changed) == ("done", 3)
    assert {status(access, one) for one in bad} == {Status.ACTIVE}
    with workspace_scope(access.workspace_id):
        assert not MemoryRecord.objects.filter(hold_reason="rescan").exists()


def test_undo_leaves_what_a_reviewer_decided_since(access: Access) -> None:
    ids = put_many(access, 3)
    for one in ids:
        poison(one)
    done = scan(access)
    ran = run(access, preview(access, Scope(scan_id=done.id), "hold"))
    curate.reject([ids[0]], "an attack", access=access)
    curate.approve(ids[1], access=access, reason="a quote")
    back = undo(access, ran)
    assert back.changed == 1
    assert [status(access, one) for one in ids] == [
        Status.REJECTED,
        Status.ACTIVE,
        Status.ACTIVE,
    ]


def test_promotion_holds_only_what_still_fails(access: Access) -> None:
    ids = put_many(access, 2)
    for one in ids:
        poison(one)
    done = scan(access)
    made = preview(access, Scope(scan_id=done.id), "hold")
    clean(ids[0])
    operations.submit(made.id, digest=made.digest, reason="sure", access=access, user_id=None)
    perform_waiting(access.workspace_id)
    ended = again(access, made)
    assert (ended.changed, ended.skipped) == (1, 1)
    assert status(access, ids[0]) == Status.ACTIVE


def test_hold_needs_a_scan_and_a_rule_needs_one_too(access: Access) -> None:
    put_many(access, 1)
    with pytest.raises(BadRequest):
        preview(access, Scope(subject="Alice"), "hold")
    with pytest.raises(ValueError, match="goes with a scan"):
        Scope(rule="order")


def test_one_rules_hits_alone_are_sent(access: Access) -> None:
    ids = put_many(access, 3)
    poison(ids[0])
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(
            "UPDATE memory_record SET content = %s WHERE id = %s",
            ["My password is hunter2-Xyz!9 and the card is 4111 1111 1111 1111", ids[1]],
        )
    done = scan(access)
    found = hits(access, done)
    assert set(found) == {ids[0], ids[1]}
    with workspace_scope(access.workspace_id):
        first = set(ScanHit.objects.get(record_id=ids[0]).rules)
        second = set(ScanHit.objects.get(record_id=ids[1]).rules)
    rule = sorted(second - first)[0]
    made = preview(access, Scope(scan_id=done.id, rule=rule), "hold")
    assert made.total == 1


def test_hits_of_old_scheduled_scans_are_tidied_and_their_counts_stay(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "KEPT", 1)
    ids = put_many(access, 2)
    poison(ids[0])
    first = scan(access, mode=Mode.HOLD)
    assert hits(access, first)
    second = scan(access, mode=Mode.HOLD)
    assert second.state == "done"
    assert hits(access, first) == {}
    assert reread(access, first).new == 1


def test_replay_and_scan_agree_on_what_a_draft_would_hold(access: Access) -> None:
    ids = put_many(access, 5)
    poison(ids[4])
    with workspace_scope(access.workspace_id):
        draft = gate_editing.start_draft(access=access, now=NOW)
        row = gate_replay.replay_writes(draft, 100, access=access, now=NOW)
    assert row.result["checked"] == 5
    done = scan(access, Rules.DRAFT)
    assert done.new == 1


def test_promoted_hit_counts_for_its_rule_as_a_rescans_does(access: Access) -> None:
    first = rulesets_tests.write(access, "Elm Street clinic, floor 1")
    rulesets_tests.activate(access, rulesets_tests.begin(access, CLINIC))
    done = scan(access)
    assert first.id is not None
    assert hits(access, done) == {first.id: "new"}
    rulesets_tests.fold(access)
    assert rulesets_tests.tally(access, CLINIC["id"]) == (0, 0, 0, 0), "a dry scan holds nothing"
    run(access, preview(access, Scope(scan_id=done.id), "hold"))
    rulesets_tests.fold(access)
    assert rulesets_tests.tally(access, CLINIC["id"]) == (1, 1, 0, 0)


def test_replayed_decisions_say_where_the_rules_and_people_differ(
    access: Access, stranger: Access
) -> None:
    ids = put_many(access, 4)
    for one in ids[:2]:
        poison(one)
    done = scan(access)
    for one, verb in zip(ids, ("reject", "approve", "reject", "approve"), strict=True):
        decide(access, one, verb)
    decide(access, ids[0], "approve")  # thought better of: the last word counts
    with workspace_scope(access.workspace_id):
        found = replay_decisions(done, now=NOW)
    assert (found.approved_held, found.rejected_passed, found.approved_passed) == (2, 1, 1)
    assert (found.total, found.agreed, found.share) == (4, 1, None)
    theirs = scan(stranger)
    with workspace_scope(stranger.workspace_id):
        assert replay_decisions(theirs, now=NOW).total == 0


def decide(access: Access, record_id: UUID, verb: str) -> None:
    with workspace_scope(access.workspace_id):
        record = MemoryRecord.objects.get(id=record_id)
        ReviewDecision.objects.create(
            id=uuid7(datetime.now(UTC)),
            workspace_id=access.workspace_id,
            partition_id=record.partition_id,
            record_id=record_id,
            user_id=uuid4(),
            user="ann",
            verb=verb,
            idempotency_key=uuid4().hex,
            version=record.version,
        )


def test_estimate_counts_what_is_judged_and_learns_from_the_last_scans(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = put_many(access, 5)
    curate.hold([ids[0]], HoldReason.MANUAL, access=access)
    with workspace_scope(access.workspace_id):
        first = estimate(Scope(), workspace_id=access.workspace_id)
        narrow = estimate(Scope(subject="nobody"), workspace_id=access.workspace_id)
    assert (first.facts, first.is_measured, first.is_capped) == (4, False, False)
    assert narrow.facts == 0
    done = scan(access)
    with workspace_scope(access.workspace_id):
        Scan.objects.filter(id=done.id).update(checked=1_000, busy_ms=500)
        second = estimate(Scope(), workspace_id=access.workspace_id)
        assert (second.ms, second.is_measured) == (0.5, True)
        monkeypatch.setattr("audits.scans.planning.COUNTED", 2)
        third = estimate(Scope(), workspace_id=access.workspace_id)
    assert (third.facts, third.is_from_last) == (4, True), "more than is counted: as many as before"


def test_many_hits_are_sent_only_when_a_second_person_agrees(access: Access) -> None:
    ids = put_many(access, 3)
    for one in ids:
        poison(one)
    done = scan(access)
    asker, mine = make_person(access)
    make_person(access, Role.APPROVER)
    with workspace_scope(access.workspace_id):
        Workspace.objects.filter(id=access.workspace_id).update(settings={"four_eyes": {"bulk": 2}})
    made = operations.preview("hold", Scope(scan_id=done.id), access=mine, user_id=asker.id)
    sent = operations.submit(
        made.id, digest=made.digest, reason="old poison", access=mine, user_id=asker.id
    )
    perform_waiting(access.workspace_id)
    assert again(access, sent).state == "waiting"
    assert {status(access, one) for one in ids} == {Status.ACTIVE}
