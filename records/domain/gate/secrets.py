"""Credentials: finding them, and never repeating them.

Owns the detection of secrets in a text: own linear patterns for well-known
formats, detect-secrets' detectors for the rest, and entropy beside a word such
as "token". Must not put a secret into any finding, log or exception: callers get
positions and a kind. Read ``judge.py`` for what a secret does to a write.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from records.domain.gate.engine import Engine

# Published samples that documentation quotes; they open nothing.
_SAMPLES = (
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",  # the token of jwt.io
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
)

_FORMATS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{18,}"),
    ("Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    (
        "Slack webhook",
        r"hooks\.slack\.com/services/[A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,}",
    ),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}\b|\bya29\.[A-Za-z0-9_-]{20,}"),
    ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("Twilio key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("Telegram bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password in a URL", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:[^\s/:@]{3,64}@[^\s/]"),
    ("bearer token", r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}=*"),
    ("Azure key", r"(?i)AccountKey=[A-Za-z0-9+/=]{40,}"),
)  # fmt: skip

# A word that announces a secret, at most a few words, then the value.
_ANNOUNCED = (
    r"(?i)(?:\b|_)(?:pass(?:word|phrase|code|wd)|passwort|kennwort|mot de passe"
    r"|contrase(?:n|ñ)a|senha"
    r"|пароль|密码|パスワード|pwd|pin(?: code| number)?|cvv|cvc|api[ _-]?key"
    r"|secret(?:[ _-]?(?:key|token))?"
    r"|access[ _-]?(?:key|token)|auth[ _-]?token|private[ _-]?key|client[ _-]?secret|token"
    r"|credentials?|recovery (?:code|phrase)|seed phrase|otp)\b"
    r"[\"'`]?(?:\s+(?:for|of|to|on)\s+\S{1,40}(?:\s+\S{1,40}){0,3})?"
    r"\s*(?:is(?: now| always)?|was|=|:|：|=>|ist|est|es|é|到|是)\s*[\"'`]?([^\s\"'`,;]{4,200})"
)
_NOT_SECRET = re2.compile(
    r"(?i)^(?:[a-z]+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[?&/].*|https?://.*|[<\[{$%*(].*"
    r"|\S*[*•x]{4,}\S*|[a-z_./-]+(?:\(\))?"
    r"|[0-9]{1,3}|[0-9]{4}-[0-9]{2}-[0-9]{2}|v?[0-9]+(?:\.[0-9]+)+|base64url.*|[0-9]+-[a-z]+)[.!?]?$"
)
# A cheap sign, in folded text, that a secret may be there; part of the one search of views.py.
SIGN_PATTERN = (
    r"[a-z0-9+/_=-]{20}|-----begin|://[^\s/:@]{1,64}:|passw|passp|passc|passwo|kennwort|contrase"
    r"|senha|pwd|\bpin\b|cvv|cvc|key\b|secret|token|credential|seed phrase|\botp\b|mot de passe|xox"
    r"|пароль|密码|パスワード|(?:\b[a-z]{3,8} ){11}[a-z]{3,8}\b"
)
_LONG = re2.compile(r"[A-Za-z0-9+/_=-]{20,}")
_CONTEXT = re2.compile(r"(?i)(?:key|token|secret|passw|credential|bearer|auth|login)[^\n]{0,40}$")
_PUBLIC = re2.compile(
    r"(?i)(?:sha-?\d*|md5|checksum|digest|hash|commit|uuid|etag|fingerprint|revision|order|ticket"
    r"|tracking|image/|base64|base32)[^\n]{0,40}$"
)
_MAX_FOR_LIBRARY = 20_000  # characters; the library's patterns are not ours to trust on more


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a credential stands and what kind it is; never the credential."""

    kind: str
    start: int
    end: int


_SIGN = re2.compile(SIGN_PATTERN)


def has_sign(folded: str) -> bool:
    """Say whether folded text may hold a secret at all."""
    return _SIGN.search(folded) is not None


def find(text: str) -> list[Secret]:
    """Return the credentials of a text, left to right and without overlaps."""
    found = [*_formats(text), *_announced(text), *_entropy(text), *_library(text), *_mnemonic(text)]
    found = [hit for hit in found if not _is_sample(text, hit)]
    return _without_overlaps(found)


def find_formats(text: str) -> list[Secret]:
    """Return what has the format of a well-known credential: certain enough for a name."""
    return _without_overlaps([hit for hit in _formats(text) if not _is_sample(text, hit)])


def redact(text: str, secrets: list[Secret]) -> str:
    """Return the text with every secret replaced by the name of its kind."""
    parts: list[str] = []
    at = 0
    for secret in secrets:
        parts += (text[at : secret.start], f"[{secret.kind} removed]")
        at = secret.end
    return "".join([*parts, text[at:]])


def _is_sample(text: str, hit: Secret) -> bool:
    start = max(text.rfind(" ", 0, hit.start), text.rfind("\n", 0, hit.start)) + 1
    close = text.find(" ", hit.end)
    token = text[start : close if close >= 0 else len(text)]
    return any(sample in token for sample in _SAMPLES)


def _without_overlaps(found: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for hit in sorted(found, key=lambda hit: (hit.start, -hit.end, hit.kind)):
        if merged and hit.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Secret(last.kind, last.start, max(last.end, hit.end))
        else:
            merged.append(hit)
    return merged


@functools.cache
def _compiled() -> tuple[Engine, tuple[str, ...]]:
    return Engine([pattern for _, pattern in _FORMATS]), tuple(kind for kind, _ in _FORMATS)


@functools.cache
def _announced_pattern() -> Any:
    return re2.compile(_ANNOUNCED)


def _formats(text: str) -> Iterator[Secret]:
    engine, kinds = _compiled()
    for index in engine.match(text):
        for span in engine.spans(index, text, limit=64):
            yield Secret(kinds[index], *span)
    if "-----BEGIN" in text:
        start = text.find("-----BEGIN")
        close = text.find("-----END", start)
        if "PRIVATE KEY" in text[start : start + 64]:
            yield Secret(
                "private key", start, len(text) if close < 0 else min(len(text), close + 64)
            )


def _announced(text: str) -> Iterator[Secret]:
    for found in _announced_pattern().finditer(text):
        value = found.group(1)
        if _NOT_SECRET.search(value) or not _looks_chosen(value.rstrip(".!?)")):
            continue
        start, end = found.span(1)
        yield Secret("password or key", start, end)


def _looks_chosen(value: str) -> bool:
    """Say whether a word is likely a chosen password: it mixes kinds of characters."""
    kinds = (
        any(char.islower() for char in value)
        + any(char.isupper() for char in value)
        + any(char.isdigit() for char in value)
        + any(not char.isalnum() for char in value)
    )
    return (kinds >= 2 and len(value) >= 5 and any(char.isdigit() for char in value)) or (
        value.isdigit() and len(value) >= 4
    )


def entropy(text: str) -> float:
    """Return Shannon's entropy in bits per character."""
    size = len(text)
    counts = [text.count(char) for char in set(text)]
    return -sum(count / size * math.log2(count / size) for count in counts)


def _entropy(text: str) -> Iterator[Secret]:
    for found in _LONG.finditer(text):
        token = found.group()[:400]
        start, end = found.span()
        if not (any(c.isdigit() for c in token) and any(c.isalpha() for c in token)):
            continue
        is_hex = all(char in "0123456789abcdefABCDEF" for char in token)
        enough = (is_hex and len(token) >= 32 and entropy(token) > 3.0) or entropy(token) > 3.9
        before = text[max(0, start - 60) : start]
        if enough and _CONTEXT.search(before) and not _PUBLIC.search(before):
            yield Secret("high-entropy token", start, end)


@functools.cache
def _plugins() -> tuple[Any, ...]:
    """Return detect-secrets' format detectors; its keyword and entropy ones are too eager."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    skipped = {"KeywordDetector", "Base64HighEntropyString", "HexHighEntropyString",
               "IPPublicDetector", "BasicAuthDetector", "CloudantDetector", "SoftlayerDetector",
               "IbmCloudIamDetector", "IbmCosHmacDetector", "JwtTokenDetector"}  # fmt: skip
    mapping: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return tuple(
        plugin() for _, plugin in sorted(mapping.items()) if plugin.__name__ not in skipped
    )


def _library(text: str) -> Iterator[Secret]:
    if len(text) > _MAX_FOR_LIBRARY or not _LONG.search(text):
        return
    for plugin in _plugins():
        for value in plugin.analyze_string(text):
            start = text.find(value) if isinstance(value, str) and value else -1
            if start >= 0:
                yield Secret(str(plugin.secret_type).lower(), start, start + len(value))


_WORDS = re2.compile(r"\S+")
_SEED_WORDS = re2.compile(r"(?i)seed|mnemonic|recovery|wallet|phrase")
_MNEMONIC_SIZES = (12, 15, 18, 21, 24)
_FUNCTION_WORDS = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "from",
        "that",
        "this",
        "are",
        "was",
        "his",
        "her",
        "their",
        "not",
        "but",
        "has",
        "had",
        "its",
        "our",
        "you",
        "who",
    ]
)


def _mnemonic(text: str) -> Iterator[Secret]:
    """Find a wallet's seed phrase: so many plain words and nothing that joins them."""
    announced = _SEED_WORDS.search(text) is not None
    count = start = 0
    for found in _WORDS.finditer(text):
        if _is_plain(found.group()):
            start = start if count else found.start()
            count += 1
            end = found.end()
            continue
        if _is_phrase(count, announced=announced):
            yield Secret("seed phrase", start, end)
        count = 0
    if _is_phrase(count, announced=announced):
        yield Secret("seed phrase", start, end)


def _is_plain(word: str) -> bool:
    lowered = word.isalpha() and word.isascii() and word.islower()
    return lowered and 3 <= len(word) <= 8 and word not in _FUNCTION_WORDS


def _is_phrase(count: int, *, announced: bool) -> bool:
    return count in _MNEMONIC_SIZES or (announced and count >= min(_MNEMONIC_SIZES))
