"""Which language a text is in, as far as it matters: whether the rules cover it.

Owns the honest note that a text's language is not covered, so that nobody takes
silence for a clean bill. Must not hold a write for its language.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

from records.domain.facts import Fact, Finding, Outcome

COVERED = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ar", "hi")
_COVERED_SCRIPTS = frozenset(
    {"LATIN", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "ARABIC", "DEVANAGARI"}
)
_LEAST_LETTERS = 8  # fewer are a name or a word, not a sentence
# Frequent words or letters of languages that share a covered script.
_OTHERS = {
    "Turkish": ("ğ", "ş", "ı"),
    "Polish": ("ł", "ż", "ą", "ę"),
    "Czech or Slovak": ("ř", "ů", "ě", "ľ"),
    "Hungarian": ("ő", "ű"),
    "Romanian": ("ș", "ț", "ă"),
    "Vietnamese": ("ơ", "ư", "ạ", "ế", "ố"),
    "Persian or Urdu": ("ی", "گ", "چ", "پ", "ہ", "ے", "ک"),
    "Ukrainian": ("і", "ї", "є", "ґ"),
    "Serbian or Macedonian": ("ђ", "љ", "њ", "ћ", "џ"),
    "Scandinavian": ("å", "ø"),
    "Icelandic": ("ð", "þ"),
    "Latvian or Lithuanian": ("ā", "ē", "ī", "ū", "ų", "ė"),
}
_NAMES = {"HANGUL": "Korean", "THAI": "Thai", "HEBREW": "Hebrew", "GREEK": "Greek"}


def uncovered(text: str) -> str | None:
    """Return the name of the language or script that the rules do not cover, if plain."""
    if text.isascii():
        return None
    scripts = Counter(
        unicodedata.name(char, "").partition(" ")[0] for char in text[:2000] if char.isalpha()
    )
    total = sum(scripts.values())
    if total < _LEAST_LETTERS:
        return None
    script, count = scripts.most_common(1)[0]
    if script not in _COVERED_SCRIPTS:
        return _NAMES.get(script, script.capitalize()) if count * 2 > total else None
    lowered = text[:2000].lower()
    if len(lowered.split()) < 3:
        return None
    for name, letters in _OTHERS.items():
        if sum(lowered.count(letter) for letter in letters) * 25 > total:
            return name
    return None


def findings(fact: Fact) -> list[Finding]:
    """Note a language that the rules cannot read."""
    text = fact.content or fact.value
    name = uncovered(text)
    if name is None:
        return []
    return [
        Finding(
            rule="language.not_covered",
            outcome=Outcome.ALLOW,
            severity="info",
            field="content" if fact.content else "value",
            view="raw",
            span=None,
            matched="",
            reason=f"The text looks {name}, which the rules do not cover; only the other views "
            "and the source were judged.",
        )
    ]
