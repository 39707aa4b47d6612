"""The configuration that is written for supervisord, read back by supervisord itself."""

import shlex
import sys
from pathlib import Path

import pytest
from supervisor.options import ServerOptions

from memconsole.embedded.home import DataHome, StartError
from memconsole.embedded.runner import Address
from memconsole.embedded.supervise import GROUP, Program, configuration


def parsed(tmp_path: Path, *programs: Program) -> ServerOptions:
    home = DataHome(tmp_path / "per%cent and space")
    home.prepare()
    path = home.run / "supervisord.conf"
    path.write_text(configuration(home, programs))
    options = ServerOptions()
    options.realize(["-c", str(path), "-n"])
    return options


def test_odd_paths_and_words_survive(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "print('100 %')", "it's", "a b"]
    log_file = tmp_path / "50% of it.log"
    options = parsed(tmp_path, Program(name="odd", command=words, log_file=log_file))

    (config,) = options.process_group_configs[0].process_configs
    assert shlex.split(config.command) == words
    assert config.stdout_logfile == str(log_file)
    assert config.environment == {"MEMCONSOLE_PROCESS": "odd"}


def test_servers_stop_after_what_uses_them(tmp_path: Path) -> None:
    programs = [
        Program(name="postgres", command=["/bin/true"], grouped=False, stop_signal="INT"),
        Program(name="web", command=["/bin/true"]),
        Program(name="worker", command=["/bin/true"]),
    ]
    groups = sorted(parsed(tmp_path, *programs).process_group_configs)

    # supervisord stops its groups from the last to the first.
    assert [group.name for group in groups] == ["postgres", GROUP]
    assert [config.name for config in groups[1].process_configs] == ["web", "worker"]


def test_a_path_that_would_be_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="to a path without"):
        configuration(DataHome(tmp_path / "notes #1"), [])


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "80.5"])
def test_a_bad_port_is_refused(port: str) -> None:
    with pytest.raises(StartError, match="PORT must be a number from 1 to 65535"):
        Address.from_environ({"PORT": port})


def test_the_url_is_one_that_a_browser_can_open() -> None:
    assert Address.from_environ({}).url == "http://127.0.0.1:8000"
    assert Address.from_environ({"MEMCONSOLE_HOST": "0.0.0.0", "PORT": "81"}).url == (
        "http://127.0.0.1:81"
    )
