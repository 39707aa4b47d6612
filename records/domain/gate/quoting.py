"""Quoted speech: a report about an attack is a fact, the attack is not.

Owns the decision whether a match stands inside quotation marks that a reporting
clause frames. Must not look at what is quoted. A quotation without a report
around it counts in full.
"""

from __future__ import annotations

import re2

_PAIRS = {
    '"': '"', "“": "”", "«": "»", "„": "“", "`": "`",
    "「": "」", "『": "』", "‘": "’", "'": "'",
}  # fmt: skip
_MAX_QUOTE = 400

# Outside the quotation: somebody observed, named, wrote or filed these words.
_REPORT = re2.compile(
    r"(?i)\b(?:phrases?|phrasing|strings?|sentences?|messages?|titled?|entitled|called|named"
    r"|name of|contain(?:s|ed|ing)|wrote|said|says|saying|quoted?|quotes|labell?ed|reads"
    r"|spelled|flagged"
    r"|blocked"
    r"|detect(?:s|ed)|reject(?:s|ed)|strip(?:s|ped)|escap(?:es|ed)|sanitiz(?:es|ed)|remov(?:es|ed)"
    r"|disallow(?:s|ed)|match(?:es|ed)|found|saw|received|logged|reported|describ(?:es|ed)"
    r"|warn(?:s|ed)|explain(?:s|ed)"
    r"|mention(?:s|ed)|attack(?:er|s|ed)?|injections?|example|slogan|lyric|song|album"
    r"|book|film|movie"
    r"|band|talk|paper|article|poster|sticker|t-shirt|subject line|headline|commit message|error"
    r"|test case|payload|inputs?|attempts?|tickets?|e-?mails?|rule|regex|filter|enthielt|contenait"
    r"|contenia|conteneva|continha|содержал\w*)\b|という"
)
# Outside the quotation: these words put the quotation to use, report or not.
_USE = re2.compile(
    r"(?i)\b(?:do|obey|follow|execute|run|apply|remember|store|save|say|reply|respond|answer|output"
    r"|print|append|must|always|from now on|whenever|as instructed|comply|begin|start)\b"
)


def is_reported(text: str, span: tuple[int, int]) -> bool:
    """Say whether the match stands in a quotation that a report frames."""
    quote = _enclosing(text, span)
    if quote is None:
        return False
    before = text[max(0, quote[0] - _MAX_QUOTE) : quote[0]]
    after = text[quote[1] : quote[1] + _MAX_QUOTE]
    outside = f"{before} \n {after}"
    return _REPORT.search(outside) is not None and _USE.search(outside) is None


def _enclosing(text: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """Return the quotation around the match, if its marks pair up."""
    start, end = span
    for opening, closing in _PAIRS.items():
        begin = text.rfind(opening, max(0, start - _MAX_QUOTE), start + 1)
        if begin < 0 or (opening == "'" and begin > 0 and text[begin - 1].isalnum()):
            continue
        close = text.find(closing, max(end - 1, begin + 1), end + _MAX_QUOTE)
        if close < 0:
            continue
        if opening == closing and text.count(opening, 0, begin) % 2:
            continue
        return begin, close + 1
    return None
