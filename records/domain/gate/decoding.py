r"""Encoded text: finding tokens that may hide words, and decoding them.

Owns base64, base32, hex, binary, percent and \\u escapes, HTML entities,
ascii85, base85, Morse, rot13, reversed, spelled and leet writing. Must not
judge: a hash, a key or an image decodes to noise and is dropped because it does
not read as text. Every decoder is linear in the length of its input.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# One character class, one quantifier each: these cannot backtrack badly.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]{24,}={0,6}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :,]?){10,}")
_HEX_ESCAPE = re.compile(r"(?:\\x[0-9a-fA-F]{2}){6,}")
_BINARY = re.compile(r"(?:[01]{8} ?){5,}")
_UNICODE_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4} ?){3,}")
_BASE85 = re.compile(r"[!-~]{40,}")
_MORSE = re.compile(r"(?:[.-]{1,6}[ /]+){10,}[.-]{1,6}")
_MIN_PIECE = 8  # shorter decoded text cannot carry an instruction


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a token of the text says once decoded."""

    name: str
    text: str
    span: tuple[int, int]


def readable(text: str) -> bool:
    """Say whether decoded bytes are prose rather than noise."""
    if len(text) < _MIN_PIECE:
        return False
    good = sum(1 for char in text if char.isalpha() or char == " ")
    return good >= 0.7 * len(text) and all(char.isprintable() or char in "\n\t" for char in text)


def _bytes_to_text(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if readable(text) else None


def _base64(token: str) -> str | None:
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    usable = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return _bytes_to_text(base64.b64decode(usable + "=" * (-len(usable) % 4)))
    except (binascii.Error, ValueError):
        return None


def _base32(token: str) -> str | None:
    body = token.rstrip("=")
    for cut in range(3):
        usable = body[: len(body) - cut]
        try:
            return _bytes_to_text(base64.b32decode(usable + "=" * (-len(usable) % 8)))
        except (binascii.Error, ValueError):
            continue
    return None


def _hex(token: str) -> str | None:
    digits = re.sub(r"[^0-9a-fA-F]", "", token.replace("\\x", ""))
    return _bytes_to_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _binary(token: str) -> str | None:
    bits = token.replace(" ", "")
    return _bytes_to_text(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))


def _unicode_escape(token: str) -> str | None:
    codes = re.findall(r"\\u([0-9a-fA-F]{4})", token)
    text = "".join(chr(int(code, 16)) for code in codes)
    return text if readable(text) else None


def _base85(token: str) -> str | None:
    for decoder in (_ascii85, base64.b85decode):
        try:
            text = _bytes_to_text(decoder(token))
        except (binascii.Error, ValueError):
            continue
        if text is not None:
            return text
    return None


def _ascii85(token: str) -> bytes:
    return base64.a85decode(token.removeprefix("<~").removesuffix("~>"))


_MORSE_CODE = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
            "-----",
            ".----",
            "..---",
            "...--",
            "....-",
            ".....",
            "-....",
            "--...",
            "---..",
            "----.",
            ".-.-.-",
            "--..--",
            "..--..",
            ".--.-.",
            "-....-",
        ],
        "abcdefghijklmnopqrstuvwxyz0123456789.,?@-",
        strict=True,
    )
)


def _morse(token: str) -> str | None:
    words = (
        "".join(_MORSE_CODE.get(letter, "") for letter in word.split()) for word in token.split("/")
    )
    text = " ".join(words)
    return text if readable(text) else None


# Name, where to look, how to decode, and a cheap sign that it is worth a look.
_TOKENS: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
    ("base64", _BASE64, _base64),
    ("base32", _BASE32, _base32),
    ("hex", _HEX, _hex),
    ("hex", _HEX_ESCAPE, _hex),
    ("binary", _BINARY, _binary),
    ("unicode escapes", _UNICODE_ESCAPE, _unicode_escape),
    ("base85", _BASE85, _base85),
    ("morse", _MORSE, _morse),
)


def decode_tokens(text: str) -> Iterator[Decoded]:
    """Yield every token that decodes to readable text."""
    for name, pattern, decoder in _TOKENS:
        for found in pattern.finditer(text):
            decoded = decoder(found.group())
            if decoded is not None:
                yield Decoded(name, decoded, found.span())


def decode_whole(text: str) -> Iterator[Decoded]:
    """Yield readings of the whole text: percent escapes, entities, escapes."""
    whole = (0, len(text))
    if "%" in text:
        plain = urllib.parse.unquote(text, errors="replace")
        if plain != text:
            yield Decoded("percent", plain, whole)
    if "&" in text and ";" in text:
        plain = html.unescape(text)
        if plain != text:
            yield Decoded("entities", plain, whole)


def rot13(text: str) -> str:
    """Return the text with Latin letters turned by thirteen; the length is kept."""
    return codecs.encode(text, "rot13")


_LEET = str.maketrans("013457@$!+8", "oieastasitb")
_LEET_ELL = str.maketrans("013457@$!+8", "oleastasltb")
_LEET_SIGNS = frozenset("013457@$!+8")


def deleet(text: str, *, one: str = "i") -> str:
    """Return the text with digits in words read as letters; the length is kept.

    ``one`` says whether the digit one stands for "i" or for "l".
    """
    table = _LEET if one == "i" else _LEET_ELL
    out = list(text)
    start = 0
    for end in range(len(text) + 1):
        if end < len(text) and not text[end].isspace():
            continue
        word = text[start:end]
        if word.isdigit() or (_LEET_SIGNS.intersection(word) and any(map(str.isalpha, word))):
            out[start:end] = word.translate(table)
        start = end + 1
    return "".join(out)


_JOINTS = frozenset(" ._*-")


def despace(text: str) -> tuple[str, list[int], bool]:
    """Join letters written apart; return text, origins, and whether words are kept.

    Two or more blanks between letters are a word border; when there are none,
    the words run together and only squeezed patterns can find them.
    """
    parts: list[str] = []
    origin: list[int] = []
    at = 0
    for found in _spelled_runs(text):
        start, end = found
        for index in range(at, start):
            parts.append(text[index])
            origin.append(index)
        index = start
        while index < end:
            if text[index] in _JOINTS:
                close = index
                while close < end and text[close] in _JOINTS:
                    close += 1
                if close - index >= 2:
                    parts.append(" ")
                    origin.append(index)
                index = close
                continue
            parts.append(text[index])
            origin.append(index)
            index += 1
        at = end
    for index in range(at, len(text)):
        parts.append(text[index])
        origin.append(index)
    return "".join(parts), origin, at > 0


def _spelled_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of at least five single letters with joints between them."""
    start = -1
    letters = 0
    last = 0
    index = 0
    size = len(text)
    while index < size:
        alone = text[index].isalnum() and (index + 1 >= size or not text[index + 1].isalnum())
        if alone and (start >= 0 or index == 0 or not text[index - 1].isalnum()):
            if start < 0:
                start = index
            letters += 1
            last = index + 1
            index += 1
            while index < size and text[index] in _JOINTS and index - last < 4:
                index += 1
            continue
        if letters >= 5:
            yield start, last
        start, letters = -1, 0
        index += 1
    if letters >= 5:
        yield start, last
