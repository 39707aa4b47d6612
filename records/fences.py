"""Fences of facts that no longer exist: recognised by a keyed digest, never guessed.

Owns the workspace's fence key. What a fence does to a write is ``domain.ledger``.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from uuid import UUID

from django.db import connection


def fence_key(workspace_id: UUID) -> bytes:
    """Return the key of the workspace's digests of erased facts; made on first use."""
    with connection.cursor() as plain:
        plain.execute("SELECT settings->>'fence_key' FROM workspace WHERE id = %s", [workspace_id])
        row = plain.fetchone()
        if row is None or row[0] is None:
            plain.execute(
                """UPDATE workspace SET settings = settings || jsonb_build_object('fence_key', %s::text)
                   WHERE id = %s AND settings->>'fence_key' IS NULL""",
                [os.urandom(32).hex(), workspace_id],
            )
            plain.execute(
                "SELECT settings->>'fence_key' FROM workspace WHERE id = %s", [workspace_id]
            )
            row = plain.fetchone()
    assert row is not None
    return bytes.fromhex(row[0])


def keyed_fingerprint(key: bytes, fingerprint: str) -> str:
    """Return the digest by which an erased fact is recognised and cannot be guessed."""
    return "kf_" + hmac.new(key, fingerprint.encode(), hashlib.sha256).hexdigest()[:40]
