"""Notices' pure rules: pauses that grow and spread, words for every kind, bounds that hold."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.notices import (
    ABOUT,
    BY_EVENT,
    FIRST_PAUSE,
    LONGEST_PAUSE,
    Kind,
    describe,
    page_of,
    pause_after,
)
from memconsole import mail


@given(st.integers(1, 100), st.floats(0, 1))
def test_a_pause_grows_up_to_a_bound_and_is_spread_around_it(attempts: int, chance: float) -> None:
    pause = pause_after(attempts, chance=chance)
    middle = min(FIRST_PAUSE * 2 ** min(attempts - 1, 20), LONGEST_PAUSE)
    assert middle / 2 <= pause <= middle * 1.5
    assert pause_after(attempts + 1, chance=chance) >= pause
    assert pause <= LONGEST_PAUSE * 1.5


def test_every_kind_has_words_a_page_and_sound_bounds() -> None:
    assert set(ABOUT) == set(Kind)
    assert set(BY_EVENT.values()) <= set(Kind)
    for kind, about in ABOUT.items():
        words = describe(kind, {"count": 3, "action": "session.suspended"}, target="0198")
        assert words.title == about.title
        assert words.sentence.endswith(".")
        assert page_of(kind, "", "")
        if about.number:
            assert about.least <= about.default <= about.most


def test_what_was_kept_back_is_said() -> None:
    assert "once more" in describe(Kind.JOB_FAILED, {}, target="rescan", more=1).sentence
    assert "7 more times" in describe(Kind.JOB_FAILED, {"digest": True}, more=7).sentence


def test_pauses_begin_at_seconds_and_end_at_an_hour() -> None:
    assert pause_after(1, chance=0.5) == timedelta(seconds=30)
    assert pause_after(50, chance=0.5) == timedelta(hours=1)


def test_a_mail_server_is_read_from_its_url() -> None:
    assert mail.server("").host == ""
    found = mail.server("smtp+tls://user:p%40ss@mail.example.org")
    assert (found.host, found.port, found.user, found.password) == (
        "mail.example.org",
        587,
        "user",
        "p@ss",
    )
    assert found.is_starttls
    assert not found.is_tls
    assert mail.server("smtps://mail.example.org:4650").port == 4650


@pytest.mark.parametrize("url", ["http://mail", "smtp://", "mail.example.org", "smtp://h:x"])
def test_a_malformed_mail_server_is_refused_by_the_variables_name(url: str) -> None:
    with pytest.raises(ValueError, match="MEMCONSOLE_SMTP_URL must be"):
        mail.server(url)
