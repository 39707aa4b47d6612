from django.db import connections


def role(alias):
    with connections[alias].cursor() as c:
        c.execute("select current_user, session_user")
        return c.fetchone()


def test_each_alias_acts_as_its_role():
    assert role("default") == ("memconsole_app", "memconsole_app")
    assert role("maintenance") == ("memconsole_maintenance", "memconsole_maintenance")
    assert role("owner") == ("memconsole_owner", "postgres")
