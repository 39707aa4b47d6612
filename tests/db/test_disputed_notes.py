"""Checkpoints that contradict each other, and evidence made to confuse whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from audits import anchors, keys, proofs, verify_export
from audits.domain.seals import Checkpoint
from audits.export import export_trail
from audits.file_checks import check_file
from audits.models import SealedEvent
from audits.verify import verify_trail
from records.access import Access
from records.scope import workspace_scope

from .test_export import fill, verdict, written
from .test_verify import anchor
from .trail import own_keys  # noqa: F401


def note_otherwise(access: Access) -> None:
    """Append a note about the newest seal that says another digest, signed by the very key."""
    path = django_settings.TRAIL_CHECKPOINTS_FILE
    (line,) = path.read_text().splitlines()
    said = json.loads(line)
    other = Checkpoint(
        access.workspace_id, said["seal"], said["last"], bytes(32), said["at"], said["key"]
    )
    signed = keys.signer().sign(other.text())
    path.write_text(anchors.line_of(other, signed) + "\n" + line + "\n")


def test_two_notes_that_contradict_each_other_break_the_trail(
    access: Access, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(access)
    export = written(tmp_path, export_trail(access))
    anchor(access)
    notes = str(django_settings.TRAIL_CHECKPOINTS_FILE)
    assert verify_trail(access.workspace_id).is_whole
    assert verdict(export, "--checkpoints", notes) in (0, 1)
    note_otherwise(access)
    report = verify_trail(access.workspace_id)
    assert report.flaw is not None
    assert "differently" in report.flaw.what
    capsys.readouterr()
    assert verdict(export, "--checkpoints", notes) == 1
    assert "differently" in capsys.readouterr().out
    with workspace_scope(access.workspace_id):
        row = SealedEvent.objects.filter(workspace_id=access.workspace_id).latest("position")
        proof = proofs.prove_event(row.event_id, workspace_id=access.workspace_id)
    assert proof is not None
    assert [one.holds for one in proof.steps] == [True, True, True, True, False]


@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        '{"workspace": 5, "x": "%s"}',
        '{"workspace": "%s", "seal": 1e999, "last": 1, "digest": "00", "at": 1, "key": 1}',
        '{"workspace": "%s", "seal": {}, "last": 1, "digest": 7, "at": 1, "key": 1}',
        '["%s"]',
    ],
    ids=["deep", "number", "infinite", "object", "list"],
)
def test_line_of_rubbish_among_the_notes_stops_no_check(access: Access, line: str) -> None:
    fill(access)
    anchor(access)
    path = django_settings.TRAIL_CHECKPOINTS_FILE
    text = line % access.workspace_id if "%s" in line else f"{line}{access.workspace_id}"
    path.write_text(path.read_text() + text + "\n")
    report = verify_trail(access.workspace_id)
    assert (report.is_whole, report.doubtful_anchors) == (True, 1)
    assert report.anchored > 0


def test_deep_and_ambiguous_evidence_is_refused_in_words(access: Access, tmp_path: Path) -> None:
    fill(access)
    deep = tmp_path / "deep"
    deep.write_text('{"type":' + "[" * 200_000 + "\n")
    assert verdict(deep) == 1
    assert not check_file(deep, "deep", None, access=access).is_proven
    assert not check_file(deep, "deep", deep, access=access).is_proven
    keys_file = str(django_settings.TRAIL_PUBLIC_KEYS_FILE)
    arguments = [str(deep), "--keys", keys_file, "--manifest", str(deep)]
    assert verify_export.main(arguments) == 2
    twice = tmp_path / "twice"
    twice.write_text('{"exported_by": "ann", "exported_by": "bob"}')
    with pytest.raises(ValueError, match="twice"):
        verify_export.read_manifest(str(twice))
