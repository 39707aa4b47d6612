"""A file that somebody brings back, checked by the very code that checks it offline.

Owns the limit and the words of the answer; ``verify_export.py`` does the
checking. Our public keys are the ones believed, and the newest seal in the file
is compared with the trail at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from audits import verify_export
from audits.seals import COLUMNS, SealRow
from records import events, queries
from records.access import Access
from records.events import Happening
from records.scope import workspace_scope

SIZE_LIMIT = 64 * 1024 * 1024  # bytes: about a hundred thousand events


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What was found in a file: proven or not, in sentences."""

    name: str
    is_proven: bool
    said: Sequence[str]


def check_file(path: Path, name: str, manifest: Path | None, *, access: Access) -> FileCheck:
    """Check a file, with its manifest where it has one; the check is on record."""
    found = _check(path, name, manifest, access)
    with workspace_scope(access.workspace_id):
        happening = Happening(
            "trail.file_checked",
            "workspace",
            access.workspace_id,
            outcome="done" if found.is_proven else "failed",
            reason="" if found.is_proven else found.said[0][:200],
        )
        events.append([happening], access=access)
    return found


def _check(path: Path, name: str, manifest: Path | None, access: Access) -> FileCheck:
    keys_file = settings.TRAIL_PUBLIC_KEYS_FILE
    if not keys_file.exists():
        return FileCheck(name, False, ["This installation has no keys yet: nothing is sealed."])
    keys = verify_export.read_keys(str(keys_file))
    try:
        if manifest is not None:
            said = verify_export.read_manifest(str(manifest))
            head, workspace = said["head"], said["workspace"]
            proven = verify_export.check(str(path), keys, None, str(manifest))
        else:
            verifier = verify_export.Verifier(keys)
            proven = [verify_export.prove(verifier, str(path), None)]
            workspace = verifier.header["workspace"]
            head = {"seal": verifier.number, "digest": verifier.digest}
    except verify_export.BrokenError as broken:
        return FileCheck(name, False, [f"Broken: {broken}."])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return FileCheck(name, False, ["This is neither an export nor its manifest."])
    where = _compare(head, workspace, access)
    return FileCheck(name, not where.startswith("But"), [*proven, where])


def _compare(head: Mapping[str, Any], workspace: str, access: Access) -> str:
    """Say whether the file's newest seal is one of this trail."""
    if workspace != str(access.workspace_id):
        return "It is of another workspace, so it was not compared with the trail here."
    if not head["seal"]:
        return "Nothing was sealed when it was made."
    with workspace_scope(access.workspace_id), queries.cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM seal WHERE workspace_id = %s AND number = %s",
            [access.workspace_id, head["seal"]],
        )
        row = cursor.fetchone()
    if row is None:
        return f"But the trail here has no seal {head['seal']}: its end is gone."
    if SealRow.of(row).body.digest().hex() != head["digest"]:
        return f"But seal {head['seal']} of the trail here is another one."
    return f"Its newest seal, {head['seal']}, is that of the trail here."
