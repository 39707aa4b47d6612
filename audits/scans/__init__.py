"""Scans as people start them: a filter as their scope, what one would cost, replayed decisions.

The work is ``records.scans``; what a scan found is sent to the queue by
``audits.operations``. See docs/scans.md.
"""

from audits.scans.deciding import Agreement, replay_decisions
from audits.scans.planning import Estimate, estimate, start_scan

__all__ = ["Agreement", "Estimate", "estimate", "replay_decisions", "start_scan"]
