"""Who may say what: predicates that need more than a plain source.

Owns the names of protected and sensitive predicates, the trust tiers'
consequences, and the limits on bursts and near-duplicates. Must not read the
value's wording: a record redirection is held however politely it is put.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Tier

CORROBORATED_BY = 2  # other sessions that say the same make a sensitive claim plausible
BURST = {Tier.UNTRUSTED: 200, Tier.STANDARD: 5_000}  # writes per session and hour
NEAR_DUPLICATES = 8  # reworded repeats in one session that stop being emphasis
LIKENESS = 0.8

# Words of a predicate's name, grouped by what a wrong value would do.
_PROTECTED = frozenset(
    ["instruction", "instructions", "directive", "directives", "system_prompt", "prompt", "guardrail", "guardrails", "permission", "permissions", "persona", "agent_role", "agent_identity", "agent_name", "assistant_name", "assistant_role", "system_role", "system_message", "developer_message", "tool_access", "access_level", "is_admin", "admin", "root", "privilege", "privileges", "safety_policy", "content_policy", "operating_rules", "house_rules", "standing_order", "standing_orders", "jailbreak", "override", "agent_policy", "core_memory"]
)
_AGENTS = frozenset(
    ["agent", "assistant", "the_assistant", "the_agent", "ai", "bot", "chatbot", "system", "model", "llm", "you", "yourself", "the_model", "the_ai", "the_bot", "self", "memory", "this_memory", "the_system", "copilot"]
)
_AGENT_ONLY = frozenset(
    ["role", "identity", "rule", "rules", "policy", "policies", "goal", "goals", "task", "tasks", "behaviour", "behavior", "name", "purpose", "objective", "duty", "duties", "trigger", "routine", "default", "defaults", "must", "should", "always", "never", "restriction", "restrictions", "limit", "limits", "capability", "capabilities", "trust", "access", "tone"]
)
_REDIRECTION = frozenset(
    ["alias", "aliases", "also_known_as", "same_as", "identical_to", "redirect", "redirects", "redirects_to", "redirected_to", "redirection", "record_location", "records_location", "record_store", "data_source", "data_location", "lookup_key", "merged_into", "merged_with", "replaced_by", "superseded_by", "moved_to", "stored_under", "kept_under", "mapped_to", "maps_to", "equivalent_to", "resolves_to", "canonical_id", "canonical_name", "points_to", "treat_as", "account_alias", "patient_alias", "customer_alias", "record_id_of", "substitute", "substitutes"]
)
_BANK = frozenset(
    ["iban", "bic", "swift", "bank_account", "account_number", "bank_details", "bank", "payment_details", "payment_account", "payout_account", "payee", "beneficiary", "wallet", "wallet_address", "crypto_wallet", "bitcoin_address", "routing_number", "sort_code", "card_number", "credit_card", "payment_address", "remittance_account", "refund_account", "invoice_account", "direct_debit", "vat_account", "default_payment_destination", "payment_destination", "pix_key", "upi_id", "paypal"]
)
_CONSENT = frozenset(
    ["consent", "consents", "consent_given", "gdpr_consent", "marketing_consent", "opt_in", "opted_in", "authorization", "authorisation", "authorized_by", "approved_by", "power_of_attorney", "waiver", "data_sharing_consent", "permission_granted", "terms_accepted"]
)
_TRUST = frozenset(
    ["trust", "trusted", "trust_level", "trust_score", "verified", "verified_by", "is_verified", "provenance", "authority", "reputation", "whitelist", "allowlist", "blocklist", "denylist", "meta"]
)
_RUNBOOK = frozenset(
    ["runbook", "runbooks", "playbook", "procedure", "procedures", "sop", "escalation_path", "successful_procedure", "recovery_steps", "incident_response"]
)
# Ordinary at the default tier, but not for an untrusted source to say.
_SOFT = frozenset(
    ["confidence", "priority", "verification", "expiry", "ttl", "retention", "workflow", "escalation", "lesson", "lessons_learned", "best_practice", "how_to", "steps", "deploy_command", "fallback_command", "payment_method", "approval", "approvals", "tax_id"]
)
_CONTACT = frozenset(
    ["email", "e_mail", "email_address", "mail", "phone", "phone_number", "telephone", "mobile", "mobile_number", "contact_email", "contact_phone", "support_email", "support_phone", "emergency_contact"]
)
_SELF = frozenset({"user", "the user", "me", "i", "myself"})


@dataclass(frozen=True, slots=True)
class Guard:
    """A group of predicates and what it takes to assert one."""

    name: str
    severity: str
    standard_held: bool  # also held at the default tier while uncorroborated
    reason: str


_GUARDS = {
    "protected": Guard(
        "protected", "high", True,
        "Says what the agent is, may do or must do; only a trusted source may set that.",
    ),
    "redirection": Guard(
        "redirection", "high", True,
        "Redirects one record, name or data source to another; a wrong one mixes people up.",
    ),
    "bank": Guard(
        "bank", "high", True,
        "Names where money goes; it needs a trusted source or a second one that agrees.",
    ),
    "consent": Guard(
        "consent", "medium", True,
        "Claims that someone agreed or approved; it needs a trusted source or a second one.",
    ),
    "trust": Guard(
        "trust", "medium", True,
        "Claims trust, priority or lifetime for itself or someone; sources cannot grant that.",
    ),
    "runbook": Guard(
        "runbook", "medium", True,
        "Describes steps an agent would follow later; it needs a trusted source or a second one.",
    ),
    "contact": Guard(
        "contact", "medium", False,
        "Contact data from an untrusted source; a wrong address leaks what is sent there.",
    ),
    "delicate": Guard(
        "delicate", "low", False,
        "Claims weight, approval or a way of working; an untrusted source may not.",
    ),
    "sensitive": Guard(
        "sensitive", "medium", True,
        "The policy marks this predicate as sensitive; it needs a trusted source or a second one.",
    ),
}  # fmt: skip


def _key(text: str) -> str:
    return "_".join(text.lower().replace("-", " ").replace("_", " ").split())


@functools.lru_cache(maxsize=4096)
def guard_of(subject: str, predicate: str) -> str | None:
    """Return the name of the guard for a predicate of this subject, if it has one."""
    name, who = _key(predicate), _key(subject)
    if name in _PROTECTED or (who in _AGENTS and (name in _AGENT_ONLY or _leads(name))):
        return "protected"
    for guard, names in (
        ("redirection", _REDIRECTION),
        ("bank", _BANK),
        ("consent", _CONSENT),
        ("trust", _TRUST),
        ("runbook", _RUNBOOK),
        ("contact", _CONTACT),
        ("delicate", _SOFT),
    ):
        if name in names:
            return guard
    return None


def _leads(name: str) -> bool:
    """Say whether a predicate of the agent orders something: "should always send"."""
    return name.partition("_")[0] in ("should", "must", "shall", "will", "always", "never", "can", "may")


def findings(fact: Fact, context: GateContext, policy: Policy) -> Iterator[Finding]:
    """Yield what the source may not assert, and what it says too often."""
    if context.tier is not Tier.TRUSTED:
        yield from _guarded(fact, context, policy)
        yield from _burst(context)
        yield from _near_duplicates(fact, context)


def _guarded(fact: Fact, context: GateContext, policy: Policy) -> Iterator[Finding]:
    name = guard_of(fact.subject, fact.predicate)
    if policy.protected:
        name = "protected"
    elif policy.sensitive and name in (None, "contact", "delicate"):
        name = "sensitive"
    if name is None:
        return
    guard = _GUARDS[name]
    untrusted = context.tier is Tier.UNTRUSTED
    corroborated = (
        name != "protected" and not untrusted and context.corroborating_sessions >= CORROBORATED_BY
    )
    held = untrusted or (guard.standard_held and not corroborated)
    yield Finding(
        rule=f"who.{guard.name}",
        outcome=Outcome.QUARANTINE if held else Outcome.ALLOW,
        severity=guard.severity if held else "info",
        field="predicate",
        view="raw",
        span=(0, len(fact.predicate)),
        matched=fact.predicate,
        reason=guard.reason,
    )


def _burst(context: GateContext) -> Iterator[Finding]:
    limit = BURST[context.tier]
    if context.session_writes <= limit or context.derived:
        return
    yield Finding(
        rule="who.burst",
        outcome=Outcome.QUARANTINE,
        severity="medium",
        field="fact",
        view="session",
        span=None,
        matched="",
        reason=f"The session wrote {context.session_writes} facts within an hour; "
        f"more than {limit} at this trust tier wait for a person.",
    )


def _near_duplicates(fact: Fact, context: GateContext) -> Iterator[Finding]:
    if len(context.recent_texts) < NEAR_DUPLICATES:
        return
    own = frozenset(fact.content.lower().split())
    alike = sum(
        1
        for text in context.recent_texts
        if text != fact.content and _alike(own, frozenset(text.lower().split()))
    )
    if alike >= NEAR_DUPLICATES:
        yield Finding(
            rule="who.near_duplicates",
            outcome=Outcome.QUARANTINE,
            severity="medium",
            field="fact",
            view="session",
            span=None,
            matched="",
            reason=f"The session says almost the same thing {alike} times in other words.",
        )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) / union >= LIKENESS
