"""Which parts of the console bear on which control, and what they leave open. Pure.

A help for whoever writes a control matrix: it points at rows that exist, and
says beside each what MemConsole does not do. No claim to comply with anything.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """A page of the console with a filter: where the rows are."""

    text: str
    route: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """One control, what is there for it, and what is not."""

    framework: str
    id: str
    title: str
    what: str
    evidence: tuple[Evidence, ...]
    not_covered: str


SOC, ACT, GDPR = "SOC 2", "EU AI Act", "GDPR"

CONTROLS: tuple[Control, ...] = (
    Control(
        SOC,
        "CC6.1",
        "Logical access",
        "Each workspace is kept apart by the database itself; roles bound what people may do;"
        " API keys are scoped, may expire, and are stored as digests.",
        (
            Evidence("Access review", "trail-access"),
            Evidence("Refused attempts", "trail", "only=denied"),
        ),
        "Single sign-on and a second factor at log-in are your identity provider's or your"
        " proxy's. Encryption of disks is the host's.",
    ),
    Control(
        SOC,
        "CC6.2, CC6.3",
        "Access is granted, changed and taken away",
        "Invitations, role changes and removals are acts with a reason and an event. A new"
        " administrator needs a second person.",
        (
            Evidence("Members coming and going", "trail", "target_kind=membership"),
            Evidence("Invitations", "trail", "target_kind=invitation"),
            Evidence("Keys", "trail", "action=key.*"),
        ),
        "Nobody is reminded to review access: the review page says who is idle, you set the date.",
    ),
    Control(
        SOC,
        "CC6.6, CC6.8",
        "Threats from outside",
        "The gate judges each write before an agent can read it; what looks like an attack is"
        " held for people.",
        (
            Evidence("The gate's rules", "gate"),
            Evidence("Facts that were held", "trail", "action=record.quarantined"),
        ),
        "Network filters, malware scans and patching of hosts.",
    ),
    Control(
        SOC,
        "CC7.2",
        "Anomalies are watched for",
        "Sessions are ranked by how odd they look; refusals and broken checks are events.",
        (
            Evidence("Sessions", "sessions"),
            Evidence("Refused and failed", "trail", "only=denied"),
            Evidence("Checks of the trail", "trail", "action=trail.*"),
        ),
        "Nobody is told before an administrator makes a rule under Notifications, and nobody is on"
        " call here: a rule can page your on-call service, and a SIEM can take the OCSF export.",
    ),
    Control(
        SOC,
        "CC7.3, CC7.4, CC7.5",
        "Incidents are judged, answered and closed",
        "Incidents have owner, severity, scope and a timeline; containment, eviction and undo"
        " are operations with a preview and a receipt.",
        (
            Evidence("Incidents", "trail", "action=incident.*"),
            Evidence("Suspensions", "trail", "action=session.suspended"),
            Evidence("Operations", "trail", "action=operation.*"),
        ),
        "Telling customers and authorities is yours; the exposure list says whom it concerns.",
    ),
    Control(
        SOC,
        "CC8.1",
        "Changes are authorised and tested",
        "Rules of the gate are drafted, replayed on real facts and then activated; policies are"
        " versioned with a reason.",
        (
            Evidence("Rules", "trail", "action=ruleset.*"),
            Evidence("Policies", "trail", "action=policy.*"),
            Evidence("Approvals", "trail", "action=approval.*"),
        ),
        "Changes of MemConsole's own code and of the agents that use it.",
    ),
    Control(
        ACT,
        "Article 12",
        "Record-keeping",
        "Each write, decision, refusal and job is an event, sealed within seconds and provable"
        " offline. Recalls and serves are logged with what was served.",
        (
            Evidence("The trail", "trail"),
            Evidence("Its integrity", "trail-integrity"),
        ),
        "Only what passes through memory: prompts, tool calls and answers of the agent are not"
        " seen here.",
    ),
    Control(
        ACT,
        "Article 19",
        "Logs are kept",
        "Events are never removed. Recalls and serves are kept for the days that the"
        " installation sets.",
        (
            Evidence("Retention and gaps", "trail-integrity"),
            Evidence("Exports", "trail-exports"),
        ),
        "Backups of the database and of the keys. Keep recalls at least six months if the"
        " article applies to you.",
    ),
    Control(
        ACT,
        "Article 26",
        "Human oversight by deployers",
        "People decide on held facts, with reasons; acts on many facts need a second person.",
        (
            Evidence("Approved by people", "trail", "action=record.approved"),
            Evidence("Rejected by people", "trail", "action=record.rejected"),
            Evidence("Approvals", "trail", "action=approval.*"),
        ),
        "Training of the people, and telling those who are affected.",
    ),
    Control(
        GDPR,
        "Article 15",
        "Access by the data subject",
        "Everything about a subject or a partition as one bundle.",
        (Evidence("Subject requests", "trail", "action=subject.*"),),
        "Proof of who asks, and the time limit: both are yours.",
    ),
    Control(
        GDPR,
        "Article 17",
        "Erasure",
        "Content is destroyed, a keyed digest keeps it from coming back, a certificate says"
        " what was done; the trail still verifies.",
        (
            Evidence("Erased facts", "trail", "action=record.erased"),
            Evidence("Legal holds", "trail", "action=hold.*"),
        ),
        "Backups, files that were exported before, and what an agent has already said.",
    ),
    Control(
        GDPR,
        "Article 30",
        "Records of processing",
        "Who wrote what kind of fact, from which source, under which policy.",
        (
            Evidence("Policies", "policies"),
            Evidence("Files that left", "trail-exports"),
        ),
        "Purposes, legal bases and recipients outside MemConsole.",
    ),
)
