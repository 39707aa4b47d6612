"""What a page with charts needs of its answer: room for the styles that Plotly makes.

Owns the one exception to the content security policy. Plotly puts a style
element into the page, so such pages allow inline styles; scripts stay as
strict as everywhere, and no other page allows either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.http.response import HttpResponseBase

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def charted(view: View) -> View:
    """Let a page's charts be drawn; the page puts ``charts/_head.html`` into its head.

    Also for a page that gets its charts as pieces: the policy is the page's.
    """
    return cast(View, csp_update({"style-src": [UNSAFE_INLINE]})(view))
