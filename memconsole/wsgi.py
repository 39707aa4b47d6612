"""The WSGI application that the web server loads, once in each of its processes."""

import os

from django.core.wsgi import get_wsgi_application

from memconsole.embedded.leash import die_with_parent

if os.environ.get("MEMCONSOLE_PROCESS") == "web":
    # A worker of a killed web server would keep the port.
    die_with_parent()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")
application = get_wsgi_application()
