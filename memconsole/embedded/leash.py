"""Processes that do not outlive the one that started them.

Owns the parent-death signal (Linux) and the change of account for servers
that refuse to run as root. Run as a module it becomes the command it is
given: ``python -m memconsole.embedded.leash --signal INT -- command ...``.
Must stay importable without Django and cheap: it runs before every process.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pwd
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

CODE = Path(__file__).resolve().parent.parent.parent

HOLDER_VARIABLE = "MEMCONSOLE_HOLDER"
PLAIN_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "TZ")

PR_SET_PDEATHSIG = 1
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP = 28, 1 << 2
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522


def die_with_parent(signal_number: int = signal.SIGTERM, *, parent: int | None = None) -> None:
    """Ask the kernel to send ``signal_number`` to this process when its parent dies.

    ``parent`` is the parent's process id when the caller knows it: a parent
    that died before the call has been missed by the kernel, so this process
    ends at once. Does nothing where the kernel has no such service (macOS).
    """
    expected = os.getppid() if parent is None else parent
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)
    if os.getppid() != expected:
        os._exit(1)


def become(account: pwd.struct_passwd, *, search_everywhere: bool) -> None:
    """Turn this root process into ``account``, for good.

    ``search_everywhere`` keeps the one capability needed to pass through
    folders that only root may enter (a clone in root's home), instead of
    opening those folders to everybody.
    """
    if search_everywhere:
        # Keeps capabilities over setuid, and lets access() honour them, by which
        # PostgreSQL looks for its own programs.
        _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    if search_everywhere:
        _keep_only(CAP_DAC_READ_SEARCH)
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH)
    os.environ.update(HOME="/", USER=account.pw_name, LOGNAME=account.pw_name)


def may_search_everywhere() -> bool:
    """Return whether this process has the capability that ``become`` would keep."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return False
    held = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return bool(held >> CAP_DAC_READ_SEARCH & 1)


def command(
    words: Sequence[str],
    *,
    stop_signal: str | None = "TERM",
    account: str | None = None,
    search_everywhere: bool = False,
    bare: bool = False,
    holds: bool = False,
) -> list[str]:
    """Return the command line that runs ``words`` on a leash, to be run in ``environment()``.

    The parent's death sends ``stop_signal``; with None the process may outlive it.
    ``bare`` hides our environment, which holds secrets that a server needs not know.
    ``holds`` makes the process the holder of whatever leashed process it starts itself.
    """
    prefix = [sys.executable, "-m", "memconsole.embedded.leash"]
    if stop_signal is not None:
        prefix += ["--signal", stop_signal]
    if account is not None:
        prefix += ["--account", account]
    if search_everywhere:
        prefix += ["--search-everywhere"]
    if bare:
        prefix += ["--bare"]
    if holds:
        prefix += ["--holds"]
    return [*prefix, "--", *words]


def environment(**changes: str) -> dict[str, str]:
    """Return the environment for a process on a leash that this process starts.

    The code is importable from any folder, and the process knows who holds it:
    a holder that died before the leash was on is noticed.
    """
    path = os.pathsep.join(filter(None, (str(CODE), os.environ.get("PYTHONPATH"))))
    held = {"PYTHONPATH": path, HOLDER_VARIABLE: str(os.getpid())}
    return {**os.environ, **held, **changes}


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def _keep_only(capability: int) -> None:
    mask = 1 << capability
    header = _CapabilityHeader(CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)()
    data[0] = _CapabilityData(mask, mask, mask)
    if ctypes.CDLL(None, use_errno=True).capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, *arguments: int) -> None:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    if ctypes.CDLL(None, use_errno=True).prctl(option, *padded) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def main(arguments: Sequence[str]) -> None:
    """Put this process on a leash and become the command."""
    parser = argparse.ArgumentParser(prog="leash")
    parser.add_argument("--signal", default=None)
    parser.add_argument("--account")
    parser.add_argument("--search-everywhere", action="store_true")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--holds", action="store_true")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args(arguments)
    holder = int(os.environ.pop(HOLDER_VARIABLE, os.getppid()))
    if options.holds:
        os.environ[HOLDER_VARIABLE] = str(os.getpid())
    if options.account:
        become(pwd.getpwnam(options.account), search_everywhere=options.search_everywhere)
    # After the change of account, which would clear it.
    if options.signal:
        die_with_parent(signal.Signals[f"SIG{options.signal}"], parent=holder)
    kept = {name: os.environ[name] for name in PLAIN_VARIABLES if name in os.environ}
    os.execve(options.words[0], options.words, kept if options.bare else dict(os.environ))


if __name__ == "__main__":
    main(sys.argv[1:])
