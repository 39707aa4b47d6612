"""Who may do what in a workspace: the roles, the permissions, and the table between them.

Pure. The views name the permission they need; the table is shown on the People
page as it stands here, so that nobody has to guess what a role opens.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a person is in one workspace."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    RESPONDER = "responder"
    APPROVER = "approver"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class Permission(StrEnum):
    """One thing that a page or an act asks for."""

    VIEW = "view"
    REVIEW = "review"
    RESPOND = "respond"
    APPROVE_OPERATIONS = "approve_operations"
    SEE_TRAIL = "see_trail"
    AUDIT = "audit"
    HANDLE_SUBJECTS = "handle_subjects"
    SEE_ACCESS = "see_access"
    MANAGE_KEYS = "manage_keys"
    MANAGE_POLICIES = "manage_policies"
    MANAGE_GATE = "manage_gate"
    MANAGE_PEOPLE = "manage_people"
    RUN_JOBS = "run_jobs"


MEANINGS: dict[Permission, str] = {
    Permission.VIEW: "See memories, sessions, policies and jobs",
    Permission.REVIEW: "Decide on held facts; hold, edit, extend and confirm facts",
    Permission.RESPOND: "Suspend sessions and sources; evict, restore, retract and merge facts",
    Permission.APPROVE_OPERATIONS: "Approve what others have asked to do in bulk",
    Permission.SEE_TRAIL: "See the audit trail and what its checks found",
    Permission.AUDIT: "Verify and export the audit trail",
    Permission.HANDLE_SUBJECTS: "Answer requests of data subjects, erase, place legal holds",
    Permission.SEE_ACCESS: "See API keys, members and invitations",
    Permission.MANAGE_KEYS: "Make and revoke API keys",
    Permission.MANAGE_POLICIES: "Change predicate policies",
    Permission.MANAGE_GATE: "Draft, replay and activate the gate's rules",
    Permission.MANAGE_PEOPLE: "Invite people, change roles, remove members",
    Permission.RUN_JOBS: "Start background jobs",
}

_TABLE: dict[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({Permission.VIEW}),
    Role.REVIEWER: frozenset({Permission.VIEW, Permission.REVIEW}),
    Role.RESPONDER: frozenset(
        {Permission.VIEW, Permission.REVIEW, Permission.RESPOND, Permission.RUN_JOBS}
    ),
    Role.APPROVER: frozenset(
        {
            Permission.VIEW,
            Permission.REVIEW,
            Permission.RESPOND,
            Permission.APPROVE_OPERATIONS,
            Permission.SEE_TRAIL,
            Permission.HANDLE_SUBJECTS,
            Permission.RUN_JOBS,
        }
    ),
    Role.AUDITOR: frozenset(
        {Permission.VIEW, Permission.SEE_TRAIL, Permission.AUDIT, Permission.SEE_ACCESS}
    ),
    Role.ADMINISTRATOR: frozenset(Permission),
}


def permissions_of(role: Role) -> frozenset[Permission]:
    """Return what a role may do."""
    return _TABLE[role]


def may(role: Role, permission: Permission) -> bool:
    """Say whether a role has a permission."""
    return permission in _TABLE[role]


def roles_with(permission: Permission) -> tuple[Role, ...]:
    """Return the roles that have a permission, for the page that refuses."""
    return tuple(role for role in Role if permission in _TABLE[role])
