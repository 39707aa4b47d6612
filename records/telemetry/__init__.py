"""What this process counts and traces of its own work, for whoever operates it.

``counts.py`` holds the Prometheus instruments, ``traces.py`` the spans. Neither
ever takes memory text: only ids, counts and codes. Which numbers are shown,
and to whom, is ``memconsole/metrics``; docs/telemetry.md lists them all.
"""
