"""The canonical form of a fact, and the identities made from it.

Owns fingerprints and the deterministic ids. Everything that compares two facts
compares these keys; nothing else decides that two facts are one. Must not look
at content, tags, confidence or source: they are not identity. Read
``normalise/`` for how a value of each kind is read, ``reconcile.py`` for what
equality leads to.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from records.domain.facts import Policy
from records.domain.negation import is_negated
from records.domain.normalise import Invisible, clean, normalise
from records.domain.normalise.text import fold

__all__ = [
    "SCHEMA_VERSION",
    "Invisible",
    "address_id",
    "clean",
    "fingerprint",
    "identifier",
    "is_negated",
    "partition_id",
    "predicate_key",
    "session_id",
    "slot_id",
    "source_id",
    "value_key",
]

SCHEMA_VERSION = 1  # part of every fingerprint; raise it when any key below changes

_JOINTS = re.compile(r"[\s_-]+")
_FINGERPRINT_DIGITS = 24


def identifier(text: str) -> str:
    """Return the key of a subject: cleaned, without case."""
    return fold(clean(text)[0])


@lru_cache(maxsize=4096)
def predicate_key(text: str) -> str:
    """Return the key of a predicate: ``Job Title`` and ``job-title`` are ``job_title``."""
    key = identifier(text)
    return _JOINTS.sub("_", key).strip("_") or key


def value_key(value: str, policy: Policy, observed_at: datetime | None = None) -> str:
    """Return the key of a value under its predicate's policy.

    It starts with how the value was read (``money:``, ``text:`` ...). For a
    time-series predicate the observation time, in UTC to the second, is part
    of it; pass the time the fact was written where no other is known.
    """
    kind, read = normalise(clean(value)[0], policy.normaliser, region=policy.region)
    key = f"{kind}:{read}"
    if not policy.time_series:
        return key
    return f"series:{_to_the_second(observed_at) if observed_at else ''}:{key}"


def fingerprint(subject_key: str, predicate_key: str, value_key: str) -> str:
    """Return the content-addressed identity of a fact within its partition."""
    digest = _digest("fact", subject_key, predicate_key, value_key)
    return f"fp_{digest.hex()[:_FINGERPRINT_DIGITS]}"


def slot_id(workspace_id: UUID, partition_id: UUID, subject_key: str, predicate_key: str) -> UUID:
    """Return the id of the slot in which values of one subject and predicate contradict."""
    return _id("slot", workspace_id.hex, partition_id.hex, subject_key, predicate_key)


def address_id(workspace_id: UUID, partition_id: UUID, source: str, source_key: str) -> UUID:
    """Return the id of the place a derived fact is read from; case and spacing count."""
    return _id("address", workspace_id.hex, partition_id.hex, _exact(source), _exact(source_key))


@lru_cache(maxsize=8192)
def partition_id(workspace_id: UUID, name: str) -> UUID:
    """Return the id of a partition; names that differ in any letter are two partitions."""
    return _id("partition", workspace_id.hex, _exact(name))


@lru_cache(maxsize=8192)
def session_id(workspace_id: UUID, partition_id: UUID, external_id: str) -> UUID:
    """Return the id of a session by the name its writer gave it, exactly as given."""
    return _id("session", workspace_id.hex, partition_id.hex, _exact(external_id))


@lru_cache(maxsize=8192)
def source_id(workspace_id: UUID, name: str) -> UUID:
    """Return the id of a source by its name, exactly as given."""
    return _id("source", workspace_id.hex, _exact(name))


def _exact(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _to_the_second(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Names of places do not depend on how facts are spelled: they outlive a schema version.
_LASTING = frozenset({"partition", "session", "source", "address"})


def _digest(domain: str, *parts: str) -> bytes:
    """Hash parts so that no two lists of them share a text: each goes with its length."""
    joined = "".join([f"{len(part)}:{part}" for part in parts])
    version = 1 if domain in _LASTING else SCHEMA_VERSION
    text = f"memconsole:{version}:{domain}:{joined}"
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _id(domain: str, *parts: str) -> UUID:
    """Make a version 8 UUID (RFC 9562: by the application's own rule) from a digest."""
    number = int.from_bytes(_digest(domain, *parts)[:16], "big")
    number = number & ~(0xF000 << 64) & ~(0xC000 << 48) | (0x8000 << 64) | (0x8000 << 48)
    return UUID(int=number)
