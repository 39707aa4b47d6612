"""Numbers about this installation, for Prometheus.

Two kinds. What processes do (requests, writes, recalls, tasks) is counted where
it happens (``records/telemetry/counts.py``), in a file per process that any web
process reads for all (``processes.py``). How the memory stands (held facts,
fences, the trail, jobs) is measured every half minute by a job in PostgreSQL
(``audits/measures.py``) and only read here (``standing.py``), so that a scrape
costs the same whatever the store holds. docs/telemetry.md lists every metric.
"""
