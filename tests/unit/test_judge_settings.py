"""The settings of the judges beside the gate: off by default, and a wrong one stops the start."""

from __future__ import annotations

import pytest

from memconsole.judging import judges


def test_nothing_is_switched_on_by_default() -> None:
    model, judge = judges({})
    assert (model, judge["url"]) == ("", "")
    assert (judge["timeout"], judge["on_failure"]) == (2.0, "hold")


def test_settings_are_read() -> None:
    model, judge = judges(
        {
            "MEMCONSOLE_GATE_MODEL": "embedding",
            "MEMCONSOLE_JUDGE_URL": "https://judge.example:8443/v1?team=a",
            "MEMCONSOLE_JUDGE_KEY": "word",
            "MEMCONSOLE_JUDGE_TIMEOUT": "0.5",
            "MEMCONSOLE_JUDGE_ON_FAILURE": "allow",
        }
    )
    assert model == "embedding"
    assert judge == {
        "url": "https://judge.example:8443/v1?team=a",
        "key": "word",
        "timeout": 0.5,
        "on_failure": "allow",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMCONSOLE_GATE_MODEL", "embeddings"),
        ("MEMCONSOLE_JUDGE_URL", "judge.example"),
        ("MEMCONSOLE_JUDGE_URL", "file:///etc/passwd"),
        ("MEMCONSOLE_JUDGE_URL", "http://"),
        ("MEMCONSOLE_JUDGE_URL", "http://judge.example:port/"),
        ("MEMCONSOLE_JUDGE_URL", "http://name:word@judge.example/"),
        ("MEMCONSOLE_JUDGE_URL", "http://judge.example/a b"),
        ("MEMCONSOLE_JUDGE_KEY", "clé"),
        ("MEMCONSOLE_JUDGE_KEY", "a\nb"),
        ("MEMCONSOLE_JUDGE_TIMEOUT", "0"),
        ("MEMCONSOLE_JUDGE_TIMEOUT", "nan"),
        ("MEMCONSOLE_JUDGE_TIMEOUT", "soon"),
        ("MEMCONSOLE_JUDGE_TIMEOUT", "31"),
        ("MEMCONSOLE_JUDGE_ON_FAILURE", "release"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        judges({name: value})
