"""Django's settings, each read from the environment with a default that works alone.

Owns the names of the environment variables (listed in docs/operations.md) and
nothing else: values are parsed in ``database.py`` and ``embedded/home.py``.
"""

import os
import sys
from pathlib import Path

import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from memconsole import database, judging, logs, mail
from memconsole.embedded.home import DataHome, StartError
from memconsole.embedded.valkey import Valkey

django_stubs_ext.monkeypatch()  # lets a generic class be written Field[A, B] at run time

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = DataHome.from_environ(os.environ)


def _flag(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in ("1", "true", "yes", "on")


def _words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def _file(name: str, default: str) -> Path:
    return Path(os.environ.get(name, "").strip() or HOME.root / default).expanduser()


def _days(name: str, default: int) -> int:
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= 36_500:
        raise ImproperlyConfigured(f"{name} must be from 1 to 36500 days, not {text!r}.")
    return int(text)


def _number(name: str, default: int, *, most: int) -> int:
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or int(text) > most:
        raise ImproperlyConfigured(f"{name} must be from 0 to {most}, not {text!r}.")
    return int(text)


DEBUG = _flag("MEMCONSOLE_DEBUG")
HTTPS = _flag("MEMCONSOLE_HTTPS")  # a proxy in front speaks TLS with the browser
ALLOWED_HOSTS = _words("MEMCONSOLE_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _words("MEMCONSOLE_ORIGINS")

try:
    SECRET_KEY = os.environ.get("MEMCONSOLE_SECRET_KEY") or HOME.secret_key()
    DATABASES = database.database_aliases(os.environ, HOME)
    # The log-in for `setup_database`; no request or job ever uses it.
    ADMINISTRATOR_CONNECTION = database.administrator_connection(os.environ, DATABASES)
except StartError as error:
    raise ImproperlyConfigured(str(error)) from error
DATABASE_ROLES = database.ROLES
DATABASE_ROUTERS = ["memconsole.database.OwnerMigrates"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
    "ninja",
    "memconsole",
    "records",
    "audits",
]

MIDDLEWARE = [
    "memconsole.logs.RequestIdMiddleware",
    "memconsole.metrics.requests.Measured",
    "memconsole.middleware.ApiErrors",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "memconsole.urls"
WSGI_APPLICATION = "memconsole.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

AUTH_USER_MODEL = "audits.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
CSRF_FAILURE_VIEW = "audits.views.errors.csrf_failure"
LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login"

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True

# One batch is at most 8 MB of JSON; the API refuses more with its own error.
DATA_UPLOAD_MAX_MEMORY_SIZE = 9 * 1024 * 1024

STATIC_URL = "/static/"
STATIC_ROOT = HOME.static
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "memconsole.plotly.PlotlyFinder",
]
# Hashed names only once they are collected, so that tests need no collecting.
# Whoever collects makes that list of names, and cannot wait for it.
COLLECTING = len(sys.argv) > 1 and sys.argv[1] in ("collectstatic", "prepare")
STATIC_COLLECTED = (COLLECTING or (STATIC_ROOT / "staticfiles.json").exists()) and not DEBUG
WHITENOISE_USE_FINDERS = not STATIC_COLLECTED
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if STATIC_COLLECTED
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]  # asked from inside, without TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0

# The trail's private key, the public keys that are believed, and the checkpoints
# that outlive a rewritten database; see docs/trail.md.
TRAIL_KEY_FILE = _file("MEMCONSOLE_TRAIL_KEY_FILE", "trail_key")
TRAIL_PUBLIC_KEYS_FILE = _file("MEMCONSOLE_TRAIL_PUBLIC_KEYS_FILE", "trail_keys")
TRAIL_CHECKPOINTS_FILE = _file("MEMCONSOLE_TRAIL_CHECKPOINTS_FILE", "trail_checkpoints")
# Where each checkpoint is posted to as well; private addresses only where that is meant.
TRAIL_WEBHOOK = os.environ.get("MEMCONSOLE_TRAIL_WEBHOOK", "").strip()
TRAIL_WEBHOOK_PRIVATE = _flag("MEMCONSOLE_TRAIL_WEBHOOK_PRIVATE")

# How long recalls and serves are kept; a workspace may ask for less.
LOG_RETENTION_DAYS = _days("MEMCONSOLE_LOG_RETENTION_DAYS", 400)

# /metrics: who may read it, and how fine it is; docs/telemetry.md.
METRICS_KEY = os.environ.get("MEMCONSOLE_METRICS_KEY", "").strip()
METRICS_WORKSPACES = _number("MEMCONSOLE_METRICS_WORKSPACES", 0, most=100)
METRICS_CACHE_SECONDS = _number("MEMCONSOLE_METRICS_CACHE_SECONDS", 10, most=300)
# Where processes keep their counters, so that whichever is asked can answer for all. The name
# is the library's; it has to stand before the library is first loaded.
if HOME.root.is_dir() and os.access(HOME.root, os.W_OK):
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(HOME.root / "metrics"))
if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).mkdir(mode=0o700, parents=True, exist_ok=True)

# Notices; docs/notifications.md. The key file encrypts what channels keep to themselves.
PUBLIC_URL = os.environ.get("MEMCONSOLE_URL", "").strip().rstrip("/")
NOTICE_KEY_FILE = _file("MEMCONSOLE_NOTICE_KEY_FILE", "notice_key")
NOTICES_PRIVATE = _flag("MEMCONSOLE_NOTICES_PRIVATE")  # webhooks inside our own network
try:
    _mail = mail.server(os.environ.get("MEMCONSOLE_SMTP_URL", "").strip())
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _mail.is_tls, _mail.is_starttls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("MEMCONSOLE_MAIL_FROM", "").strip() or "memconsole@localhost"

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "").strip() or Valkey(HOME).url

# Which model embeds texts; docs/recall.md says what happens when it changes.
EMBEDDINGS = {
    "provider": os.environ.get("MEMCONSOLE_EMBEDDINGS", "wordllama"),  # or openai, none
    "url": os.environ.get("MEMCONSOLE_EMBEDDINGS_URL", "https://api.openai.com/v1"),
    "key": os.environ.get("MEMCONSOLE_EMBEDDINGS_KEY", ""),
    "model": os.environ.get("MEMCONSOLE_EMBEDDINGS_MODEL", "text-embedding-3-small"),
    "dimensions": int(os.environ.get("MEMCONSOLE_EMBEDDINGS_DIMENSIONS", "512")),
    # Whether the server takes a "dimensions" parameter and shortens its vectors itself.
    "ask_dimensions": _flag("MEMCONSOLE_EMBEDDINGS_ASK_DIMENSIONS"),
    "timeout": float(os.environ.get("MEMCONSOLE_EMBEDDINGS_TIMEOUT", "10")),  # seconds
}

# Judges beside the gate, both off unless named here; docs/gate.md says what they see.
try:
    GATE_MODEL, JUDGE = judging.judges(os.environ)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error

try:
    LOGGING = logs.configuration(
        form=os.environ.get("MEMCONSOLE_LOG", "human"),
        level=os.environ.get("MEMCONSOLE_LOG_LEVEL", "INFO"),
    )
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
