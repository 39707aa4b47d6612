"""The readings of a text: as it is, folded, unmasked, joined up, decoded.

Owns which views a text gets and in which order. Must not judge what a view
says; ``scanner.py`` does. The plain view always exists; the others are built
only when a cheap sign says that they would differ. Read ``folding.py``,
``hidden.py`` and ``decoding.py`` for the details.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import re2

from records.domain.gate import decoding, hidden, personal_data, secrets
from records.domain.gate.folding import fold_with_origin, has_lookalikes, unmask
from records.domain.gate.spans import View

_DEPTH = 2  # base64 inside base64 is opened; deeper nesting is not worth the time
_MAX_DECODED = 32  # tokens opened per field

# Signs, in folded text, that a further view could say something else.
_DIFFERS = (
    r"[a-z0-9+/_=-]{16}|[0-9a-f]{2}[ :,][0-9a-f]{2}[ :,][0-9a-f]{2}[ :,][0-9a-f]{2}[ :,]"
    r"|%[0-9a-f]{2}|&#?[a-z0-9]{2,8};|\\[ux][0-9a-f]{2}|[01]{8}|<~"
    r"|\b\w[ ._*-]{1,3}\w[ ._*-]{1,3}\w[ ._*-]{1,3}\w\b|[.-]{1,6} [.-]{1,6} [.-]{1,6} "
    r"|[a-z][013457@$!][a-z]|\b[013457@$][a-z]{2}|[a-z]{2}[013457@$]\b|\b[a-z]?[013457@$]{2}[a-z]"
    # frequent words turned by thirteen, and frequent words backwards
    r"|\b(?:gur|naq|lbh|lbhe|nyy|gb|vf|bs|vtaber|nyjnlf|arire|fraq|flfgrz|cebzcg|erirny|sbetrg"
    r"|eht|dna|uoy|ruoy|lla|fo|erongi|syawla|reven|dnes|metsys|tpmorp|laever|tegrof"
    r"|snoitcurtsni|suoiverp|selur|drowssap|sdrowssap|liame|drawrof)\b"
)
_SIGN_OF_VIEW = re2.compile(_DIFFERS)
# One search decides for most facts that there is nothing hidden, secret or personal in them.
_ANY_SIGN = re2.compile(f"{_DIFFERS}|{secrets.SIGN_PATTERN}|{personal_data.SIGN_PATTERN}")
_ROT13 = re2.compile(
    r"\b(?:gur|naq|lbh|lbhe|nyy|gb|vf|bs|vtaber|nyjnlf|arire|fraq|flfgrz|cebzcg|erirny|sbetrg)\b"
)
_BACKWARDS = re2.compile(
    r"\b(?:eht|dna|uoy|ruoy|lla|fo|ot|erongi|syawla|reven|dnes|metsys|tpmorp|laever|tegrof"
    r"|snoitcurtsni|suoiverp|selur|drowssap|sdrowssap|liame|drawrof)\b"
)
_LEET = re2.compile(
    r"[a-z][013457@$!][a-z]|\b[013457@$][a-z]{2}|[a-z]{2}[013457@$]\b|\b[a-z]?[013457@$]{2}[a-z]"
)


@dataclass(slots=True)
class Readings:
    """The extra views of one field, and what is noteworthy about its characters."""

    views: list[View] = field(default_factory=list)
    invisible: list[hidden.Invisible] = field(default_factory=list)
    mixed_words: list[tuple[int, int]] = field(default_factory=list)
    squeezed: list[View] = field(default_factory=list)  # views whose words run together


def has_signs(folded: str) -> bool:
    """Say whether folded text may hold a secret or personal data, or hide another reading."""
    return _ANY_SIGN.search(folded) is not None


def could_differ(folded: str) -> bool:
    """Say whether folded text could read differently in another view."""
    return _SIGN_OF_VIEW.search(folded) is not None


def readings(field_name: str, text: str) -> Readings:
    """Return all further views of a field; linear in its length."""
    result = Readings()
    if not text.isascii():
        _unicode_views(field_name, text, result)
    _written_views(field_name, text, result)
    for decoded in _decoded(text):
        result.views.append(View(decoded.name, field_name, decoded.text, whole=decoded.span))
    return result


def _unicode_views(field_name: str, text: str, result: Readings) -> None:
    result.invisible = hidden.find(text)
    for run in result.invisible:
        if len(run.payload) >= 4:
            result.views.append(View(f"hidden {run.kind}", field_name, run.payload, whole=run.span))
    if has_lookalikes(text):
        unmasked, mixed = unmask(text)
        result.mixed_words = mixed
        if unmasked != text:
            folded, origin = fold_with_origin(unmasked)
            result.views.append(View("confusables", field_name, folded, origin))


def _written_views(field_name: str, text: str, result: Readings) -> None:
    folded, origin = fold_with_origin(text)
    joined, places, changed = decoding.despace(folded)
    if changed:
        view = View("spelled out", field_name, joined, [origin[place] for place in places])
        result.views.append(view)
        result.squeezed.append(view)
    if _LEET.search(folded):
        for one in "il" if "1" in folded else "i":
            plain = decoding.deleet(folded, one=one)
            if plain != folded:
                result.views.append(View("leet", field_name, plain, origin))
    if _ROT13.search(folded):
        result.views.append(View("rot13", field_name, decoding.rot13(folded), origin))
    if _BACKWARDS.search(folded):
        result.views.append(View("reversed", field_name, folded[::-1], origin[::-1]))


def _decoded(text: str) -> Iterator[decoding.Decoded]:
    """Yield decoded tokens, and what their text decodes to in turn."""
    pending = [
        (decoded, 1) for decoded in [*decoding.decode_whole(text), *decoding.decode_tokens(text)]
    ]
    count = 0
    while pending and count < _MAX_DECODED:
        decoded, depth = pending.pop(0)
        count += 1
        yield decoded
        if depth < _DEPTH:
            for inner in decoding.decode_tokens(decoded.text):
                name = f"{decoded.name}, {inner.name}"
                pending.append((decoding.Decoded(name, inner.text, decoded.span), depth + 1))
