"""Who may read the metrics: this machine, or whoever has the scrape key.

Owns the decision alone. With a key set, the key is asked of everybody. Without
one, only a request that comes from this machine and through no proxy is
answered: behind a proxy every request comes from a near address, so a request
that carries a trace of one is not taken for local, whatever it claims.
"""

from __future__ import annotations

import hmac
import ipaddress

from django.conf import settings
from django.http import HttpRequest

# What proxies add. Their values are never believed, only their presence.
TRACES_OF_A_PROXY = (
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
    "HTTP_FORWARDED",
    "HTTP_VIA",
)


def may_scrape(request: HttpRequest) -> bool:
    """Say whether this request may read the metrics."""
    if settings.METRICS_KEY:
        scheme, _, given = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        is_same = hmac.compare_digest(
            given.strip().encode("utf-8", "surrogatepass"), settings.METRICS_KEY.encode()
        )
        return scheme.lower() == "bearer" and is_same
    # A proxy that speaks TLS for us may leave no trace: there a key is needed.
    return not settings.HTTPS and _is_local(request)


def _is_local(request: HttpRequest) -> bool:
    if any(name in request.META for name in TRACES_OF_A_PROXY):
        return False
    try:
        address = ipaddress.ip_address(str(request.META.get("REMOTE_ADDR", "")))
    except ValueError:
        return False
    inside = getattr(address, "ipv4_mapped", None)
    return (inside or address).is_loopback
