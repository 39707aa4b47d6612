"""Which judges stand beside the gate, read from the environment.

Owns checking those settings: a judge that is misspelled must stop the start,
not silently judge nothing. What the judges do is ``records/judges``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

MODELS = ("", "embedding")
ON_FAILURE = ("hold", "allow")
LONGEST_WAIT = 30.0  # seconds; a write waits inside its transaction


def judges(environ: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the model extra's name and the external judge's settings; ValueError names the bad one."""
    model = environ.get("MEMCONSOLE_GATE_MODEL", "").strip()
    if model not in MODELS:
        raise ValueError(f"MEMCONSOLE_GATE_MODEL must be embedding or nothing, not {model!r}.")
    on_failure = environ.get("MEMCONSOLE_JUDGE_ON_FAILURE", "").strip() or ON_FAILURE[0]
    if on_failure not in ON_FAILURE:
        raise ValueError(f"MEMCONSOLE_JUDGE_ON_FAILURE must be hold or allow, not {on_failure!r}.")
    return model, {
        "url": _url(environ.get("MEMCONSOLE_JUDGE_URL", "").strip()),
        "key": _key(environ.get("MEMCONSOLE_JUDGE_KEY", "").strip()),
        "timeout": _seconds(environ.get("MEMCONSOLE_JUDGE_TIMEOUT", "").strip() or "2"),
        "on_failure": on_failure,
    }


def _url(text: str) -> str:
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("MEMCONSOLE_JUDGE_URL must be an http or https address with a host.")
    if parts.username is not None or parts.password is not None:
        raise ValueError("MEMCONSOLE_JUDGE_URL must hold no password: use MEMCONSOLE_JUDGE_KEY.")
    return text


def _key(text: str) -> str:
    if not text.isascii() or not (text == "" or text.isprintable()):
        raise ValueError("MEMCONSOLE_JUDGE_KEY must be printable ASCII.")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= LONGEST_WAIT:  # NaN is not
        raise ValueError(
            f"MEMCONSOLE_JUDGE_TIMEOUT must be from 0.05 to {LONGEST_WAIT:g} seconds, not {text!r}."
        )
    return seconds
