"""Search terms of a text, as numbers.

Owns tokenising and the hash behind the inverted text match: the database keeps
``int4[]``, so a term must be the same number in every process and version.
Changing any rule here needs stored terms made again. Must not weigh or rank;
``ranking.py`` does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from zlib import crc32

import regex

from records.domain.stems import stem

# How many terms the index holds of one record: the caller stores the first of ``terms`` in
# the indexed column and the rest beside it. 160 covers a fact of some 900 characters, and
# 640 bytes of int4 stay far from the 2,704 that a btree entry may take.
MAX_INDEXED_TERMS = 160

# Scripts written without spaces between words (Chinese, Japanese, Korean, Thai, Lao,
# Myanmar, Khmer): a run of them is matched by its overlapping pairs.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# A word, or words joined as in codes, addresses and versions: abc-123, ravi@old.example, 2.9.1.
_JOINED = r"{0}+(?:[-_.@:/'+&#]+{0}+)*(?:\+\+|\#)?"
_ASCII_TOKEN = re.compile(_JOINED.format("[a-z0-9]"))
_TOKEN = regex.compile(
    rf"[{_UNSPACED}]+|" + _JOINED.format(rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]"),
    regex.VERSION1,
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD_CHARACTER = re.compile("[\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_JOINT = re.compile(r"[-_.@:/'+&#]+")
_POSSESSIVE = re.compile(r"'s\b")
_SOFT_JOINTS = str.maketrans("", "", "-_'")

_STOP_WORDS = frozenset(
    """a about all am an and any are as at be been but by can could did do does for from had has
    have he her his how i if in into is it its itself just me my no not of on or our out she so
    some than that the their them then there these they this to up us was we were what when where
    which who whom whose why will with would you your tell please know""".split()  # noqa: SIM905 - reads better as text
)


def terms(text: str) -> tuple[int, ...]:
    """Return the distinct terms of a stored text, in the order they first occur.

    Stop words are terms too, or a name made of them could not be found.
    """
    return tuple(dict.fromkeys(_numbers(_prepared(text), whole_run_only=False)))


def query_terms(text: str) -> tuple[int, ...]:
    """Return the distinct terms of a question, without stop words unless nothing remains."""
    prepared = _prepared(text)
    asked = " ".join(word for word in prepared.split() if not _is_stop_word(word))
    found = tuple(dict.fromkeys(_numbers(asked, whole_run_only=True)))
    return found or tuple(dict.fromkeys(_numbers(prepared, whole_run_only=True)))


def _is_stop_word(word: str) -> bool:
    return _POSSESSIVE.sub("", word.strip(".,?!:;'\"()")) in _STOP_WORDS


def _prepared(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Searching, unlike identity, wants the likeness: full-width digits, ligatures, accents.
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", plain).replace("\u2019", "'")


def _numbers(text: str, *, whole_run_only: bool) -> Iterator[int]:
    if text.isascii():
        for token in _ASCII_TOKEN.findall(text):
            yield from (_term(token),) if token.isalnum() else _compound(token)
        return
    runs: list[str] = []
    for token in _TOKEN.findall(text):
        if _UNSPACED_RUN.match(token):
            runs.append(token)
            yield from map(_number, _pairs(token))
        else:
            yield from _compound(token)
    if not whole_run_only:
        # Single characters come last: they find words of one character (猫), and must not
        # push pairs out of the indexed part.
        for run in runs:
            yield from map(_number, _WORD_CHARACTER.findall(run))


def _compound(token: str) -> Iterator[int]:
    """Yield the parts of a joined token and the whole of it."""
    token = _POSSESSIVE.sub("", token)
    parts = [part for part in _JOINT.split(token) if part]
    yield from map(_term, parts)
    whole = token
    if not all(part.isdigit() for part in parts):
        whole = token.translate(_SOFT_JOINTS)  # e-mail is email; 10-20 is not 1020
    if whole not in parts:
        yield _term(whole)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=65_536)
def _term(word: str) -> int:
    return _number(stem(word))


def _number(term: str) -> int:
    """CRC-32 as a signed 32-bit integer: fixed for all time, unlike ``hash``."""
    number = crc32(term.encode("utf-8", "surrogatepass"))
    return number - (1 << 32) if number >> 31 else number
