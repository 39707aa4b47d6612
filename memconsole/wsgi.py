"""The WSGI application that the web server loads, once in each of its processes."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")
application = get_wsgi_application()
