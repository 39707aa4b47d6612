"""The project's settings on the test server: its own folder, database and queues.

Set before the settings are read; a web server that a test starts is told which
database is the test's. Nothing of the developer's own instance is touched.
"""

import os

from tests.server import test_home

_OTHERS = ("DATABASE_", "CELERY_", "MEMCONSOLE_JUDGE_", "MEMCONSOLE_GATE_")
for _name in [name for name in os.environ if name.startswith(_OTHERS)]:
    del os.environ[_name]
os.environ["MEMCONSOLE_HOME"] = str(test_home().root)
os.environ["MEMCONSOLE_DATABASE"] = os.environ.get(
    "MEMCONSOLE_TEST_DATABASE", f"test_memconsole_{os.getpid()}"
)
# Queues of this process: a test sees what was queued, and nothing waits for a broker.
os.environ["CELERY_BROKER_URL"] = os.environ.get("MEMCONSOLE_TEST_BROKER", "memory://")

from memconsole.settings import *  # noqa: E402, F403

# Slowness is a real hasher's purpose, and a test's loss.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
