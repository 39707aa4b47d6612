"""Exports prove themselves offline; one changed character and they do not."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from audits import anchors, export, jobs, seals, verify_export
from audits.export import Chosen, export_trail
from records.access import Access
from records.jobs import runs
from records.models import Event
from records.scope import workspace_scope

from .trail import happen, own_keys, superuser  # noqa: F401

ONLY_ODD = Chosen("e.reason LIKE %(like)s", {"like": "%odd%"}, "?reason=odd")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "SEAL_LIMIT", 8)
    monkeypatch.setattr(export, "PIECE_EVENTS", 20)


def fill(access: Access, count: int = 40) -> None:
    happen(access, *[f"{'odd' if n % 2 else 'even'} é {n}" for n in range(count)])
    seals.seal_now(access.workspace_id)


def written(tmp_path: Path, lines: Iterator[str]) -> Path:
    path = tmp_path / "export.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def verdict(path: Path, *more: str) -> int:
    return verify_export.main(
        [str(path), "--keys", str(django_settings.TRAIL_PUBLIC_KEYS_FILE), *more]
    )


def shown(path: Path) -> list[dict[str, object]]:
    said = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [one["event"] for one in said if one["type"] in ("event", "unsealed")]


def test_script_alone_proves_an_export_without_the_project_or_the_network(
    access: Access, tmp_path: Path
) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access))
    script = shutil.copy(verify_export.__file__, tmp_path / "verify_export.py")
    keys = django_settings.TRAIL_PUBLIC_KEYS_FILE
    # Isolated mode: neither the current folder nor the environment adds to the imports.
    done = subprocess.run(
        [sys.executable, "-I", str(script), str(path), "--keys", str(keys)],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("PROVEN: ")
    assert "without a gap" in done.stdout


def test_export_holds_exactly_the_events_of_its_workspace(
    access: Access, stranger: Access, tmp_path: Path
) -> None:
    fill(access)
    fill(stranger)
    path = written(tmp_path, export_trail(access))
    with workspace_scope(access.workspace_id):
        there = set(Event.objects.exclude(action="export.finished").values_list("id", flat=True))
    assert {one["id"] for one in shown(path)} == there
    assert {one["workspace_id"] for one in shown(path)} == {str(access.workspace_id)}


def test_export_is_in_the_trail_itself(access: Access, tmp_path: Path) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access, ONLY_ODD))
    end = json.loads(path.read_text("utf-8").splitlines()[-1])
    with workspace_scope(access.workspace_id):
        begun, done = Event.objects.filter(target_kind="export").order_by("id")
    assert (begun.action, done.action) == ("export.started", "export.finished")
    assert (done.details["sha256"], done.details["filter"]) == (end["sha256"], "?reason=odd")


@pytest.mark.parametrize("chosen", [Chosen(), ONLY_ODD, Chosen(first=11, last=30)])
def test_one_changed_character_anywhere_is_found(
    access: Access, tmp_path: Path, chosen: Chosen, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(access)
    happen(access, "odd: not sealed")
    path = written(tmp_path, export_trail(access, chosen))
    assert verdict(path) == 0, capsys.readouterr()
    whole = path.read_text("utf-8")
    chance = random.Random(3)
    last_line = range(whole.rindex("\n", 0, -1) + 1, len(whole))
    places = [chance.randrange(len(whole)) for _ in range(80)] + list(last_line)
    for at in places:
        other = chance.choice([c for c in "0aA=x }é" if c != whole[at]])
        path.write_text(whole[:at] + other + whole[at + 1 :], encoding="utf-8")
        assert verdict(path) == 1, f"{whole[at]!r} -> {other!r} at {at} was not found"
        path.write_text(whole[:at] + whole[at + 1 :], encoding="utf-8")
        assert verdict(path) == 1, f"removal of {whole[at]!r} at {at} was not found"


def test_removed_repeated_and_reordered_lines_are_found(access: Access, tmp_path: Path) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access))
    lines = path.read_text("utf-8").splitlines(keepends=True)
    assert verdict(path) == 0
    for at in range(len(lines)):
        for changed in (
            [*lines[:at], *lines[at + 1 :]],
            [*lines[: at + 1], *lines[at:]],
            [*lines[:at], *reversed(lines[at : at + 2]), *lines[at + 2 :]]
            if lines[at + 1 :]
            else [],
        ):
            path.write_text("".join(changed), encoding="utf-8")
            assert verdict(path) == 1


def test_broken_event_is_named(
    access: Access, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access))
    text = path.read_text("utf-8")
    path.write_text(text.replace("even é 20", "even é 21"), encoding="utf-8")
    capsys.readouterr()
    assert verdict(path) == 1
    assert "BROKEN at line" in capsys.readouterr().out


def test_filtered_export_shows_only_what_matches_and_proves_each(
    access: Access, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access, ONLY_ODD))
    assert len(shown(path)) == 20
    assert all("odd" in str(one["reason"]) for one in shown(path))
    assert verdict(path) == 0
    assert "filter '?reason=odd'" in capsys.readouterr().out


def test_range_holds_its_positions_and_no_other(access: Access, tmp_path: Path) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access, Chosen(first=11, last=30)))
    said = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [one["position"] for one in said if one["type"] == "event"] == list(range(11, 31))
    assert verdict(path) == 0


def test_trail_tampered_with_before_the_export_does_not_verify(
    access: Access, tmp_path: Path
) -> None:
    fill(access)
    with superuser() as database:
        database.execute("UPDATE event SET reason = 'forged' WHERE reason = 'odd é 21'")
    for chosen in (Chosen(), Chosen("e.reason IN ('forged', 'odd é 23')")):
        assert verdict(written(tmp_path, export_trail(access, chosen))) == 1


def test_export_of_an_empty_trail_is_proven(access: Access, tmp_path: Path) -> None:
    with workspace_scope(access.workspace_id):
        assert Event.objects.exists()
    path = written(tmp_path, export_trail(access, Chosen("e.reason = 'nothing'")))
    assert shown(path) == []
    assert verdict(path) == 0


def test_strangers_key_proves_nothing(access: Access, tmp_path: Path) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access))
    django_settings.TRAIL_KEY_FILE = tmp_path / "other_key"
    django_settings.TRAIL_PUBLIC_KEYS_FILE = tmp_path / "other_keys"
    seals.keys.signer()
    assert verdict(path) == 1


def test_checkpoint_kept_outside_finds_an_export_that_ends_too_early(
    access: Access, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(access)
    path = written(tmp_path, export_trail(access))
    checkpoints = str(django_settings.TRAIL_CHECKPOINTS_FILE)
    runs.perform(jobs.ANCHORING, access.workspace_id, anchors.anchor_head)
    assert verdict(path, "--checkpoints", checkpoints) == 0
    happen(access, "more")
    seals.seal_now(access.workspace_id)
    runs.perform(jobs.ANCHORING, access.workspace_id, anchors.anchor_head)
    assert verdict(path, "--checkpoints", checkpoints) == 1
    assert "your checkpoint knows seal" in capsys.readouterr().out


def test_file_that_cannot_be_read_is_another_answer_than_broken(tmp_path: Path) -> None:
    assert verify_export.main([str(tmp_path / "none"), "--keys", str(tmp_path / "none")]) == 2
