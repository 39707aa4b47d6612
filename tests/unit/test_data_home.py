"""The data folder: sockets that fit, secrets that agree, one instance at a time."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memconsole.embedded.home import (
    LONGEST_SOCKET_NAME,
    SOCKET_PATH_LIMIT,
    DataHome,
    StartError,
    make_private,
)

CODE = Path(__file__).resolve().parents[2]


def test_the_environment_names_the_home(tmp_path: Path) -> None:
    assert DataHome.from_environ({"MEMCONSOLE_HOME": f"{tmp_path}/a/../b"}).root == tmp_path / "b"
    assert DataHome.from_environ({"MEMCONSOLE_HOME": " "}).root == CODE / ".data"


@pytest.mark.parametrize("depth", [1, 50])
def test_socket_paths_always_fit(tmp_path: Path, depth: int) -> None:
    home = DataHome(tmp_path / ("deep" * depth))
    assert len(os.fsencode(home.sockets / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_LIMIT
    assert home.sockets == DataHome(home.root).sockets


def test_two_deep_homes_share_no_sockets() -> None:
    deep = Path("/" + "x" * 200)
    assert DataHome(deep / "a").sockets != DataHome(deep / "b").sockets


def test_the_home_is_closed_to_others(tmp_path: Path) -> None:
    home = DataHome(tmp_path / "home")
    home.prepare()
    home.secret_key()
    readable = stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH
    for path in (home.root, home.sockets, home.logs, home.run, home.secret_key_file):
        assert not path.stat().st_mode & readable, path


def test_processes_that_make_the_key_at_once_agree(tmp_path: Path) -> None:
    home = DataHome(tmp_path / "home")
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: home.secret_key(), range(32)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert [path.name for path in home.root.glob(".secret_key*")] == []


def test_a_home_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StartError, match="set MEMCONSOLE_HOME to another folder"):
        DataHome(tmp_path / "file" / "home").prepare()


def test_a_second_instance_is_told_about_the_first(tmp_path: Path) -> None:
    home = DataHome(tmp_path / "home")
    home.prepare()
    with (
        home.held(),
        pytest.raises(StartError, match=rf"process {os.getpid()}\) is running"),
        DataHome(home.root).held(),
    ):
        pass
    with home.held():
        pass


def test_a_killed_instance_leaves_no_lock(tmp_path: Path) -> None:
    home = DataHome(tmp_path / "home")
    home.prepare()
    script = (
        "import os, signal, sys; from pathlib import Path;"
        "from memconsole.embedded.home import DataHome\n"
        "with DataHome(Path(sys.argv[1])).held(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(home.root)], cwd=CODE)
    assert killed.returncode == -9
    with home.held():
        pass


def test_a_folder_planted_by_somebody_else_is_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    planted = tmp_path / "planted"
    planted.symlink_to(real)
    with pytest.raises(StartError, match="belongs to another account"):
        make_private(planted)


def test_a_folder_of_other_files_is_left_as_it_is(tmp_path: Path) -> None:
    other = tmp_path / "pictures"
    other.mkdir(mode=0o755)
    (other / "logs").mkdir()
    (other / "cat.jpg").write_bytes(b"cat")
    for attempt in (DataHome(other).prepare, DataHome(other).secret_key):
        with pytest.raises(StartError, match="holds other files"):
            attempt()
    assert {path.name for path in other.iterdir()} == {"logs", "cat.jpg"}
    assert stat.S_IMODE(other.stat().st_mode) == 0o755
    home = DataHome(tmp_path / "own")
    (home.root / "lost+found").mkdir(parents=True)
    (home.root / ".keep").touch()
    home.prepare()
    (home.root / "note").write_text("kept by its owner")
    home.prepare()
