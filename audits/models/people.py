"""The people of the console: accounts, memberships, invitations, saved views, refused log-ins.

Nothing in ``records`` refers to them by foreign key: history names people by
text and outlives accounts. Who may do what is ``audits/domain/roles.py``'s.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now


class User(AbstractUser):
    """A person who logs in to the console, with how the console looks and listens to them.

    ``remap`` holds only the keys that differ from the defaults, by the id of
    the shortcut. A superuser runs the installation: administrator everywhere.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    theme = models.TextField(default="system", db_default="system")
    density = models.TextField(default="compact", db_default="compact")
    shortcuts_on = models.BooleanField(default=True, db_default=True)
    remap: models.JSONField[Any, Any] = models.JSONField(default=dict, db_default={}, blank=True)

    class Meta:
        db_table = "audits_user"


class Membership(models.Model):
    """That one person works in one workspace, in one role; kept when they leave it.

    ``changed_by`` is who changed it last. Since when somebody may agree to what
    others ask, until when they could, and by whose act, the database notes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    user = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    role = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField(default="")
    removed_at = models.DateTimeField(null=True)
    changed_by = models.TextField(default="", db_default="")
    agrees_since = models.DateTimeField(null=True)
    agrees_by = models.TextField(default="", db_default="")
    agreed_until = models.DateTimeField(null=True)
    agreed_ended_by = models.TextField(default="", db_default="")

    class Meta:
        db_table = "membership"


class Invitation(models.Model):
    """A link that makes whoever opens it a member, once; only its digest is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    digest = models.BinaryField(unique=True)
    invited = models.TextField()
    role = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.TextField(default="", db_default="")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "invitation"


class SavedView(models.Model):
    """A list with its filters under a name, for the person who saved it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    user = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    page = models.TextField()
    name = models.TextField()
    query = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "saved_view"


class LoginFailure(models.Model):
    """How often log-in failed for one account, address or pair of both since ``since``."""

    key = models.TextField(primary_key=True)
    failures = models.IntegerField(default=0)
    since = models.DateTimeField()

    class Meta:
        db_table = "login_failure"
