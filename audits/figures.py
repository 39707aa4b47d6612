"""The charts of the overview and of the page of figures: each a question with its answer.

Owns which charts there are (``OVERVIEW``, ``FIGURES``) and what they say. Each is
made by itself, so that one that fails leaves the others standing. Numbers come
from ``queries/rollups.py`` (kept counts and what is not folded yet) and
``queries/figures.py`` (counted live). Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from audits import sampling
from audits.charts import Chart, Column, Linked
from audits.domain.figures import DECISIONS, LATENCY_STEPS, OTHER, percentile, weeks_ahead
from audits.figure_parts import Asking, Part, bars, lines, linked
from audits.queries import figures as queries
from audits.queries.gate import Tally, load_tallies
from audits.queries.rollups import Series, load_series
from audits.sampling.reading import load_trend
from audits.sampling_charts import by_predicate

RULES_SHOWN = 10
PREDICATES_SHOWN = 15
AGES = (
    ("under 1 h", timedelta(hours=1)),
    ("1 to 8 h", timedelta(hours=8)),
    ("8 to 24 h", timedelta(hours=24)),
    ("1 to 7 days", timedelta(days=7)),
    ("over 7 days", None),
)
RECORDED = (
    ("under 1 day", timedelta(days=1)),
    ("1 to 7 days", timedelta(days=7)),
    ("7 to 30 days", timedelta(days=30)),
    ("30 to 90 days", timedelta(days=90)),
    ("90 days to 1 year", timedelta(days=365)),
    ("over 1 year", None),
)
SAID = ((2, "2"), (3, "3 to 5"), (6, "6 to 10"), (11, "11 to 100"), (101, "over 100"))
BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
CUT = (
    "The job “rollups” is behind: not all of the newest events are in these numbers yet."
    " See the jobs page."
)

Maker = Callable[[Asking], list[Chart]]


def falling_behind(asking: Asking) -> list[Chart]:
    """Compare held with decided, and how long the backlog has waited."""
    steps = asking.steps
    series = load_series(["flow"], steps, workspace_id=asking.workspace_id)
    edges = _ages_ago(AGES, asking.now)
    waiting = queries.count_backlog(edges, workspace_id=asking.workspace_id)
    held, decided = series.of("flow", "held"), series.of("flow", "decided")
    came, went, wait = sum(held), sum(decided), sum(waiting)
    if not wait:
        answer = (
            f"No: nothing waits. {came:,} were held and {went:,} decided in {steps.span.words}."
        )
    else:
        answer = (
            f"{'Yes' if came > went else 'No'}: {came:,} were held and {went:,} decided in"
            f" {steps.span.words}; {wait:,} wait{'s' if wait == 1 else ''}."
        )
    flow = Chart(
        "falling-behind",
        "Are we falling behind?",
        answer,
        bars(
            steps.names,
            [Part("Held", held, 2), Part("Decided", decided, 1)],
            "Facts",
            is_stacked=False,
        ),
        (_time(asking), _number("Held"), _number("Decided")),
        [
            (
                name,
                linked(into, asking.trail(*pair, flow="held")),
                linked(out, asking.trail(*pair, flow="decided")),
            )
            for name, pair, into, out in zip(steps.names, steps.pairs, held, decided, strict=True)
        ],
        _cut(series),
    )
    old = waiting[-1] + waiting[-2]
    backlog = Chart(
        "backlog-by-age",
        "How long has the backlog waited?",
        f"{old:,} of {wait:,} have waited for more than a day." if wait else "Nothing waits.",
        bars([name for name, _ in AGES], [Part("Waiting", waiting, 2)], "Facts"),
        (Column("Held for"), _number("Facts")),
        [
            (name, linked(number, asking.behind("held", *edge)))
            for (name, _), edge, number in zip(AGES, edges, waiting, strict=True)
        ],
    )
    return [flow, backlog]


def bad_memory(asking: Asking) -> list[Chart]:
    """Count the serves of facts that were found bad since."""
    steps = asking.steps
    harm = queries.load_harm(steps, workspace_id=asking.workspace_id)
    log = load_series(["served"], steps, workspace_id=asking.workspace_id)
    total, everything = sum(harm.serves), sum(log.of("served", "facts"))
    share = f" That is {total / everything:.2%} of everything served." if total else ""
    answer = (
        f"Yes: facts that were found bad since were served {total:,}"
        f" time{'' if total == 1 else 's'} in {steps.span.words}.{share}"
        if total
        else f"Not that we know: nothing that was served in {steps.span.words} was found bad since."
    )
    note = (
        f"Only facts found bad since {harm.since:%Y-%m-%d %H:%M} UTC are looked at."
        if harm.since
        else ""
    )
    return [
        Chart(
            "bad-serves",
            "Is bad memory reaching agents?",
            answer,
            bars(steps.names, [Part("Serves of bad facts", harm.serves, 3)], "Serves"),
            (_time(asking), _number("Serves of bad facts"), _number("Different facts")),
            [
                (name, linked(serves, asking.behind("bad-serves", *pair)), f"{facts:,}")
                for name, pair, serves, facts in zip(
                    steps.names, steps.pairs, harm.serves, harm.facts, strict=True
                )
            ],
            note,
        )
    ]


def wasting_rules(asking: Asking) -> list[Chart]:
    """Say what reviewers made of each rule's holds."""
    tallies = load_tallies(asking.workspace_id, today=asking.now.date())
    decided = sorted(
        ((rule, one) for rule, one in tallies.items() if one.decisions),
        key=lambda pair: (-pair[1].approved, -pair[1].decisions, pair[0]),
    )
    shown = decided[:RULES_SHOWN]
    if decided and decided[0][1].approved > 0:
        rule, worst = decided[0]
        answer = (
            f"{rule} most: reviewers let in {max(worst.approved, 0):,} of the"
            f" {worst.decisions:,} facts that it held and they decided."
        )
    elif decided:
        answer = "None: reviewers turned away everything that the rules held."
    else:
        answer = "No fact that a rule held was decided yet."
    return [
        Chart(
            "rules-by-outcome",
            "Which rules waste time?",
            answer,
            bars(
                [rule for rule, _ in shown],
                [
                    Part("Turned away", [max(one.rejected, 0) for _, one in shown], 1),
                    Part("Let in", [max(one.approved, 0) for _, one in shown], 2),
                ],
                "Decisions",
            ),
            (Column("Rule"), _number("Let in"), _number("Turned away"), _number("Precision")),
            [
                (
                    rule,
                    linked(max(one.approved, 0), asking.url("gate-rule", rule)),
                    linked(max(one.rejected, 0), asking.url("gate-rule", rule)),
                    _precision(one),
                )
                for rule, one in decided
            ],
            "All decisions so far, counted every minute.",
        )
    ]


def stale_serves(asking: Asking) -> list[Chart]:
    """Count the expired facts by predicate, and how many of them were served since."""
    found = queries.load_expired(workspace_id=asking.workspace_id, now=asking.now)
    served = sum(row["served"] for row in found.rows)
    answer = (
        f"{served:,} of {found.total:,} expired facts were served after they expired"
        f" ({served / found.total:.0%})."
        if found.total
        else "No fact in service is past its validity."
    )
    shown = found.rows[:PREDICATES_SHOWN]
    since = found.since or BEGINNING

    def rows() -> list[tuple[str | Linked, ...]]:
        return [
            (
                row["predicate"],
                _predicate(asking, "expired", since, row["expired"], row["predicate"]),
                _predicate(asking, "expired-served", since, row["served"], row["predicate"]),
                f"{row['served'] / row['expired']:.0%}",
            )
            for row in found.rows[: queries.PREDICATES]
        ]

    return [
        Chart(
            "expired-served",
            "How stale is what agents get?",
            answer,
            bars(
                [row["predicate"] for row in shown],
                [Part("Served since", [row["served"] / row["expired"] for row in shown], 3)],
                "Share served since",
                tick_format=".0%",
            ),
            (
                Column("Predicate"),
                _number("Expired"),
                _number("Served since"),
                _number("Share"),
            ),
            rows(),
            f"The {found.total:,} that expired last are counted." if found.since else "",
        )
    ]


def staleness(asking: Asking) -> list[Chart]:
    """Say what sample-and-verify found, by predicate."""
    trend = load_trend(workspace_id=asking.workspace_id)
    known = sampling.load_figures(
        [batch["id"] for batch, _ in trend], workspace_id=asking.workspace_id
    )
    chart = by_predicate(known)
    is_told = any(one.is_shown for _, one in known.by_predicate)
    return [chart if is_told else replace(chart, figure={})]


def writes(asking: Asking) -> list[Chart]:
    """Count the writes by decision."""
    steps = asking.steps
    series = load_series(["write"], steps, workspace_id=asking.workspace_id)
    shown = [one for one in DECISIONS if any(series.of("write", one))]
    total = sum(sum(series.of("write", one)) for one in shown)
    stopped = sum(sum(series.of("write", one)) for one in ("quarantined", "rejected", "fenced"))
    answer = (
        f"{total:,} writes in {steps.span.words}; {stopped / total:.1%} of them were stopped."
        if total
        else f"Nothing was written in {steps.span.words}."
    )
    return [
        Chart(
            "writes-by-decision",
            "What becomes of what is written?",
            answer,
            bars(
                steps.names,
                [Part(one, series.of("write", one), DECISIONS.index(one)) for one in shown],
                "Writes",
            ),
            (_time(asking), *(_number(one.capitalize()) for one in shown)),
            [
                (
                    name,
                    *(
                        linked(
                            series.of("write", one)[place],
                            asking.trail(*pair, flow="write", action=f"record.{one}"),
                        )
                        for one in shown
                    ),
                )
                for place, (name, pair) in enumerate(zip(steps.names, steps.pairs, strict=True))
            ],
            _cut(series),
        )
    ]


def gate_hits(asking: Asking) -> list[Chart]:
    """Count the hits by rule, of what was written."""
    steps = asking.steps
    series = load_series(["hit"], steps, workspace_id=asking.workspace_id)
    rules = series.labels("hit")
    shown = rules[:RULES_SHOWN]
    answer = (
        f"{rules[0]} hits most: {sum(series.of('hit', rules[0])):,} of"
        f" {sum(sum(series.of('hit', rule)) for rule in rules):,} hits in {steps.span.words}."
        if rules
        else f"No rule of the gate hit anything in {steps.span.words}."
    )
    left_out = len(rules) - len(shown)
    note = f"{left_out} rules with fewer hits are left out." if left_out else ""
    return [
        Chart(
            "hits-by-rule",
            "Which rules of the gate hit, and when?",
            answer,
            bars(
                steps.names,
                [Part(rule, series.of("hit", rule), n) for n, rule in enumerate(shown)],
                "Hits",
            ),
            (_time(asking), *(_number(rule) for rule in shown)),
            [
                (
                    name,
                    *(
                        linked(
                            series.of("hit", rule)[place],
                            "" if rule == OTHER else asking.trail(*pair, rule=rule),
                        )
                        for rule in shown
                    ),
                )
                for place, (name, pair) in enumerate(zip(steps.names, steps.pairs, strict=True))
            ],
            " ".join(one for one in (note, _cut(series)) if one),
        )
    ]


def expiries(asking: Asking) -> list[Chart]:
    """Count what expires in the next 90 days, by week."""
    ahead = weeks_ahead(asking.steps.zone, asking.now)
    counts = queries.count_expiring(ahead.pairs, workspace_id=asking.workspace_id)
    total = sum(counts)
    names = [f"week of {name[4:]}" if place else "this week" for place, name in
             enumerate(ahead.names)]  # fmt: skip
    answer = (
        f"{total:,} fact{'' if total == 1 else 's'} in the next 13 weeks, {counts[0]:,} of them"
        " within a week."
        if total
        else "Nothing expires in the next 13 weeks."
    )
    return [
        Chart(
            "expiries-ahead",
            "What expires next?",
            answer,
            bars(names, [Part("Expire", counts, 2)], "Facts"),
            (Column(f"Week ({ahead.zone.key})"), _number("Facts")),
            [
                (name, linked(number, asking.behind("expiring", *pair)))
                for name, pair, number in zip(names, ahead.pairs, counts, strict=True)
            ],
        )
    ]


def duplicates(asking: Asking) -> list[Chart]:
    """Show the share of facts stored twice, as it was sampled."""
    steps = asking.steps
    series = load_series(["level"], steps, workspace_id=asking.workspace_id)
    checked, repeats = series.level("checked"), series.level("repeats")
    ratios = [
        None if all_ is None else (again or 0) / all_ if all_ else 0.0
        for all_, again in zip(checked, repeats, strict=True)
    ]
    known = [one for one in ratios if one is not None]
    if not known:
        answer = "Not measured yet: the job “measures” has not run in this time."
    elif max(known) == 0:
        answer = f"No: not one was found in {steps.span.words}."
    else:
        answer = f"Yes, and it should never be: up to {max(known):.3%} of the live facts."
    return [
        Chart(
            "duplicate-ratio",
            "Is anything stored twice?",
            answer,
            lines(steps.names, [Part("Duplicate ratio", ratios, 3)], "Ratio", tick_format=".2%"),
            (_time(asking), _number("Facts compared"), _number("Stored twice"), _number("Ratio")),
            [
                (
                    name,
                    "" if all_ is None else f"{all_:,}",
                    "" if again is None else f"{again:,}",
                    "" if ratio is None else f"{ratio:.3%}",
                )
                for name, all_, again, ratio in zip(
                    steps.names, checked, repeats, ratios, strict=True
                )
            ],
            "Sampled once an hour; a step shows its highest sample.",
        )
    ]


def seen_counts(asking: Asking) -> list[Chart]:
    """Count how often facts were said again."""
    counts = queries.count_said([low for low, _ in SAID], workspace_id=asking.workspace_id)
    total = sum(counts)
    rows: list[tuple[str | Linked, ...]] = [
        (words, f"{number:,}") for (_, words), number in zip(SAID, counts, strict=True)
    ]
    rows.append(("All", linked(total, asking.url("records", query="seen=again"))))
    return [
        Chart(
            "seen-counts",
            "How often are facts said again?",
            f"{total:,} {'fact was' if total == 1 else 'facts were'} said more than once,"
            f" {sum(counts[3:]):,} of them more than ten times."
            if total
            else "No fact was said more than once.",
            bars([words for _, words in SAID], [Part("Facts", counts)], "Facts"),
            (Column("Times said"), _number("Facts")),
            rows,
        )
    ]


def ages(asking: Asking) -> list[Chart]:
    """Count the facts in service by age."""
    edges = _ages_ago(RECORDED, asking.now)
    counts = queries.count_ages(edges, workspace_id=asking.workspace_id)
    total, old = sum(counts), sum(counts[-2:])
    return [
        Chart(
            "ages",
            "How old is what is remembered?",
            f"{old / total:.0%} of {total:,} facts in service were recorded over 90 days ago."
            if total
            else "No fact is in service.",
            bars([name for name, _ in RECORDED], [Part("Facts", counts)], "Facts"),
            (Column("Recorded"), _number("Facts")),
            [
                (name, linked(number, asking.behind("recorded", *edge)))
                for (name, _), edge, number in zip(RECORDED, edges, counts, strict=True)
            ],
        )
    ]


def recalls(asking: Asking) -> list[Chart]:
    """Count the recalls, and say how long they took."""
    steps = asking.steps
    series = load_series(["recall", "served"], steps, workspace_id=asking.workspace_id)
    buckets = [series.of("recall", str(n)) for n in range(len(LATENCY_STEPS) + 1)]
    volume = [sum(one) for one in zip(*buckets, strict=True)]
    spread = [[bucket[place] for bucket in buckets] for place in range(steps.span.steps)]
    total = sum(volume)
    every = [sum(bucket) for bucket in buckets]
    answer = (
        f"{total:,} recall{'' if total == 1 else 's'} in {steps.span.words}; half took"
        f" {_took(every, 0.5)}, 95 % {_took(every, 0.95)}."
        if total
        else f"Nothing was asked in {steps.span.words}."
    )
    shown = [(percentile(one, 0.5), percentile(one, 0.95)) for one in spread]
    longest = LATENCY_STEPS[-1]
    latency = lines(
        steps.names,
        [
            Part("Half are at most", [longest if a == -1 else a for a, _ in shown], 0),
            Part("95 % are at most", [longest if b == -1 else b for _, b in shown], 2),
        ],
        "Milliseconds",
    )
    return [
        Chart(
            "recall-volume",
            "How much is asked?",
            answer,
            bars(steps.names, [Part("Recalls", volume)], "Recalls"),
            (_time(asking), _number("Recalls"), _number("Facts served")),
            [
                (name, linked(number, asking.behind("recalls", *pair)), f"{served:,}")
                for name, pair, number, served in zip(
                    steps.names, steps.pairs, volume, series.of("served", "facts"), strict=True
                )
            ],
        ),
        Chart(
            "recall-latency",
            "How fast are the answers?",
            f"95 % took {_took(every, 0.95)}." if total else "Nothing was asked.",
            latency,
            (_time(asking), _number("Half took"), _number("95 % took")),
            [
                (name, _took(one, 0.5) if sum(one) else "", _took(one, 0.95) if sum(one) else "")
                for name, one in zip(steps.names, spread, strict=True)
            ],
            "Each time is the upper bound of its bucket.",
        ),
    ]


# What each place shows, in its order; a name is a part of a URL.
OVERVIEW: Mapping[str, tuple[str, Maker]] = {
    "behind": ("Are we falling behind?", falling_behind),
    "harm": ("Is bad memory reaching agents?", bad_memory),
    "rules": ("Which rules waste time?", wasting_rules),
    "stale": ("How stale is what agents get?", stale_serves),
}
FIGURES: Mapping[str, tuple[str, Maker]] = {
    "writes": ("What becomes of what is written?", writes),
    "recalls": ("How much is asked, and how fast are the answers?", recalls),
    "hits": ("Which rules of the gate hit, and when?", gate_hits),
    "expiries": ("What expires next?", expiries),
    "staleness": ("Which predicates are stale?", staleness),
    "duplicates": ("Is anything stored twice?", duplicates),
    "said": ("How often are facts said again?", seen_counts),
    "ages": ("How old is what is remembered?", ages),
}
ALL: Mapping[str, tuple[str, Maker]] = {**OVERVIEW, **FIGURES}
# What stands rather than happens: no range to choose.
TIMELESS = frozenset({"rules", "stale", "expiries", "staleness", "said", "ages"})


def _ages_ago(
    ages_of: tuple[tuple[str, timedelta | None], ...], now: datetime
) -> list[tuple[datetime, datetime]]:
    """Return the stretches of time behind ages; the first takes in what comes this very moment."""
    edges = [now + timedelta(minutes=5), *(now - one for _, one in ages_of if one), BEGINNING]
    return [(start, end) for end, start in pairwise(edges)]


def _predicate(asking: Asking, about: str, since: datetime, number: int, name: str) -> str | Linked:
    return linked(number, asking.behind(about, since, asking.now, predicate=name))


def _took(counts: list[int], share: float) -> str:
    bound = percentile(counts, share)
    return f"over {LATENCY_STEPS[-1]:,} ms" if bound == -1 else f"at most {bound:,} ms"


def _precision(one: Tally) -> str:
    return "under 20 decisions" if one.precision is None else f"{one.precision:.0%}"


def _time(asking: Asking) -> Column:
    return Column(f"Time ({asking.steps.zone.key})")


def _number(title: str) -> Column:
    return Column(title, is_numeric=True)


def _cut(series: Series) -> str:
    return CUT if series.is_cut else ""
