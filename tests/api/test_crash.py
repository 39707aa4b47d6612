"""kill -9 of everything while clients write: what was acknowledged is there, and whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from memconsole.embedded.home import DataHome
from memconsole.embedded.postgres import Postgres
from tests.api.crash import Clients, check_counted_once, check_whole
from tests.instance import Instance
from tests.server import CODE, plain_environment

VICTIMS = {
    "database": ("postgres", "-D"),
    "backends": ("postgres", "-D"),
    "web": ("granian",),
    "worker": ("--queues", "default"),
    "maintenance": ("--queues", "maintenance"),
    "broker": ("valkey-server",),
}


def make_key(run: Instance) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", "create_api_key", "--workspace", "default"],
        cwd=CODE,
        env=plain_environment(**run.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def kill(run: Instance, victim: str) -> None:
    """Kill one of the product's processes, and what hangs on it, without a word of warning."""
    try:
        parent = run.find(*VICTIMS[victim])
        below = parent.children(recursive=True)
    except (ValueError, psutil.Error):
        return  # still down from the time before
    for process in below if victim == "backends" else (parent, *below):
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def survive(home: Path, *, writes: int, kills: list[str], seed: int) -> None:
    """Write so much while these are killed, then everything at once; look at what is left."""
    with Instance(home) as run:
        run.start().wait_until_ready()
        clients = Clients(run.url, make_key(run), writes=writes, seed=seed)
        clients.start()
        chance = random.Random(seed)
        for place, victim in enumerate(kills, start=1):
            clients.wait_for(writes * place // (len(kills) + 2) + chance.randrange(10))
            kill(run, victim)
        clients.wait_for(writes * (len(kills) + 1) // (len(kills) + 2))
        for process in run.processes():
            if process.pid != run.process.pid:
                with suppress(psutil.NoSuchProcess):  # one that its parent took along
                    process.kill()
        run.process.kill()
        run.process.wait()
        run.wait_until_gone()
        run.start()
        clients.join()
        run.wait_until_green()
        assert clients.retries > 0, "nothing was ever in flight when something died"
        assert len(clients.acknowledged) >= writes
        with Postgres(DataHome(home)).connect("memconsole") as connection:
            check_whole(connection)
            check_counted_once(connection, clients)
        assert run.stop() == 0


def test_acknowledged_writes_outlive_kills(tmp_path: Path) -> None:
    survive(tmp_path / "home", writes=250, kills=["backends", "web", "database"], seed=7)


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_acknowledged_writes_outlive_many_kills(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    kills = [*VICTIMS, *chance.choices(list(VICTIMS), k=6)]
    chance.shuffle(kills)
    survive(tmp_path / "home", writes=1_000, kills=kills, seed=seed)
