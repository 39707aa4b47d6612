"""`make run` from start to stop: what it starts, says, survives and leaves behind."""

import json
import os
import re
import signal
import urllib.request
from pathlib import Path

import psycopg
import pytest

from memconsole.embedded.home import DataHome
from memconsole.embedded.postgres import Postgres
from tests import server
from tests.instance import Instance


def test_a_whole_life(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Instance(home) as first:
        first.start().wait_until_ready()
        assert first.is_green()
        (password,) = re.findall(r"Administrator: admin +Password: (\S{16}) ", first.output())
        assert urllib.request.urlopen(f"{first.url}/healthz").status == 200
        assert first.find("--queues default")
        assert first.find("--queues maintenance")
        assert first.find("celery", "beat")

        second = Instance(home).start()
        assert second.wait_for_exit() == 1
        assert f"Another MemConsole (process {first.process.pid}) is running" in second.output()

        with Instance(tmp_path / "other", PORT=str(first.port)) as other:
            assert other.start().wait_for_exit() == 1
            assert f"Port {first.port} is already in use" in other.output()
            assert f"PORT={first.port + 1} make run" in other.output()

        for words in (("postgres", "-D"), ("valkey-server",), ("granian",), ("--queues default",)):
            first.find(*words).send_signal(signal.SIGKILL)
        first.wait_until_green()

        assert first.stop(signal.SIGTERM) == 0
        first.wait_until_gone(seconds=1)

    with Instance(home) as again:
        # Others may be using this machine as well: count our share of it.
        crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        assert again.start().wait_until_ready() < 15 * crowd
        assert "Password" not in again.output()
        with Postgres(DataHome(home)).connect("memconsole") as connection:
            assert connection.execute("SELECT username FROM audits_user").fetchall() == [("admin",)]
        assert again.stop(signal.SIGINT) == 0
        again.wait_until_gone(seconds=1)
    for log_file in [*home.glob("logs/*"), *tmp_path.glob("*.log")]:
        assert log_file in (first.log_file,) or password not in log_file.read_text()


def test_nothing_embedded_starts_beside_servers_of_ones_own(
    tmp_path: Path, broker_url: str
) -> None:
    sockets = server.test_home().postgres_sockets
    name = f"test_memconsole_{os.getpid()}_own"
    database_url = f"postgresql://postgres@/{name}?host={sockets}"
    environ = {
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": broker_url,
        "MEMCONSOLE_ADMIN_PASSWORD": "chosen-by-me",
        "MEMCONSOLE_LOG": "json",
    }
    try:
        with Instance(tmp_path / "home", **environ) as run:
            run.start().wait_until_ready()
            commands = [" ".join(process.cmdline()) for process in run.processes()]
            assert not [c for c in commands if "valkey-server" in c or "bin/postgres" in c]
            assert not (run.home / "postgres").exists()
            assert "Password: the one in MEMCONSOLE_ADMIN_PASSWORD" in run.output()
            assert "chosen-by-me" not in run.output()
            for process in run.processes():
                if process.pid != run.process.pid and process.is_running():
                    assert "MEMCONSOLE_ADMIN_PASSWORD" not in process.environ()
            line = json.loads(run.wait_for_line("{", '"maintenance"', "ready."))
            assert (line["process"], line["level"]) == ("maintenance", "info")
            assert run.stop() == 0
            run.wait_until_gone(seconds=1)
    finally:
        with psycopg.connect(
            host=str(sockets), user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.mark.full
def test_a_killed_runner_leaves_no_orphan_and_no_obstacle(tmp_path: Path) -> None:
    with Instance(tmp_path / "home") as run:
        run.start().wait_until_ready()
        run.process.kill()
        run.process.wait()
        run.wait_until_gone()

        run.start()
        run.wait_until_green()
        run.find("supervisor.supervisord").kill()
        assert run.wait_for_exit() == 1
        assert "The process manager is gone" in run.output()
        run.wait_until_gone()

        run.start()
        run.wait_until_green()
        for process in run.processes():
            process.kill()
        run.process.wait()
        # The number of the killed server now belongs to some other program.
        pid_file = run.home / "postgres" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
        pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
        run.start()
        run.wait_until_green()
        assert run.stop() == 0
        run.wait_until_gone(seconds=1)


@pytest.mark.full
def test_a_process_that_does_not_stay_up_stops_everything_with_the_reason(tmp_path: Path) -> None:
    with Instance(tmp_path / "home", MEMCONSOLE_WEB_THREADS="none") as run:
        assert run.start().wait_for_exit() == 1
        assert "The process web does not stay up" in run.output()
        assert "'none' is not a valid" in run.output()
        run.wait_until_gone(seconds=1)


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        ({"PG_VERSION": "16\n"}, "written by PostgreSQL 16 but this is PostgreSQL 18"),
        ({"holiday.jpg": ""}, "holds something that is not a PostgreSQL database"),
    ],
)
def test_foreign_data_is_left_alone_and_explained(
    tmp_path: Path, found: dict[str, str], complaint: str
) -> None:
    data = tmp_path / "home" / "postgres"
    data.mkdir(parents=True)
    for name, content in found.items():
        (data / name).write_text(content)
    with Instance(tmp_path / "home") as run:
        assert run.start().wait_for_exit() == 1
        assert complaint in run.output()
        assert "MEMCONSOLE_HOME to another folder" in run.output()
        assert "Traceback" not in run.output()
    assert {path.name for path in data.iterdir()} == set(found)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("PORT", "http", "PORT must be a number from 1 to 65535, not 'http'."),
        ("MEMCONSOLE_HOST", "203.0.113.7", "Port .* of 203.0.113.7 cannot be used"),
        ("MEMCONSOLE_LOG", "xml", "MEMCONSOLE_LOG must be one of human, json, not 'xml'."),
        ("DATABASE_URL", "mysql://db/x", "DATABASE_URL must start with postgresql://"),
    ],
)
def test_a_bad_setting_is_refused_by_name(
    tmp_path: Path, name: str, value: str, complaint: str
) -> None:
    with Instance(tmp_path / "home") as run:
        run.environ[name] = value
        assert run.start().wait_for_exit() == 1
        assert re.search(complaint, run.output()), run.output()
        assert "Traceback" not in run.output()
        run.wait_until_gone(seconds=1)
