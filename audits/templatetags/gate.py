"""How the gate's figures are written: the very digits that the bench command prints."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def exact(share: float) -> str:
    """Say a share of one in percent with two decimals, as the command does."""
    return f"{share:.2%}"


@register.filter
def kind(name: str) -> str:
    """Say the name of a group of rows in words: ``prompt_leak/own`` is "prompt leak"."""
    return name.removesuffix("/own").replace("_", " ")
