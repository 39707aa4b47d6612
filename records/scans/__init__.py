"""Scans: stored facts judged again by the current rules, a draft, or softened ones.

``planning`` freezes rules and facts, ``working`` takes ranges with any number
of workers, ``judging`` does one range, ``finishing`` adds up. See docs/scans.md.
"""

from records.scans.again import judge_again, load
from records.scans.finishing import by_rule, sums
from records.scans.planning import EVERYTHING, Chosen, Mode, Rules, ruleset_of, start
from records.scans.working import cancel, pause, perform_scans, resume, work

__all__ = [
    "EVERYTHING",
    "Chosen",
    "Mode",
    "Rules",
    "by_rule",
    "cancel",
    "judge_again",
    "load",
    "pause",
    "perform_scans",
    "resume",
    "ruleset_of",
    "start",
    "sums",
    "work",
]
