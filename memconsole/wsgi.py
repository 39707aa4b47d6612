"""The WSGI application that the web server loads, once in each of its processes."""

import multiprocessing
import os
import signal

from memconsole.embedded.leash import die_with_parent

if os.environ.get("MEMCONSOLE_PROCESS") == "web":
    # A worker of a killed web server would keep the port.
    parent = multiprocessing.parent_process()
    die_with_parent(parent=parent.pid if parent else None)
    # Until it serves, a worker still has its parent's handler, which only takes note:
    # asked to stop while loading, it would go on for ever.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

application = get_wsgi_application()
# Loads every view now: the first request should not wait for it, nor find its errors.
_ = get_resolver().url_patterns

from records.warm import warm  # noqa: E402 - needs the applications loaded

warm()
