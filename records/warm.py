"""What a process that answers loads before its first request, and sets apart for good.

Owns no state. The garbage collector walks everything that may be garbage each
time a few hundred objects were made, and a batch makes a hundred thousand; what
is loaded once is never garbage. Without this a third of a batch's processor
time went into walking code, rules and words (bench/writes.py).
"""

from __future__ import annotations

import gc
from contextlib import suppress

from records.domain.gate import default_ruleset
from records.embeddings import EmbeddingError
from records.embeddings.providers import provider
from records.embeddings.registry import configured

YOUNG = 50_000  # objects made before the first look: a third of a batch of 1,000


def warm() -> None:
    """Load the gate's rules and the embedding model, then keep them from the collector.

    Call once, in the process that serves, when its code is loaded.
    """
    default_ruleset()
    # What fails is said where it matters: facts are stored without a vector, and show it.
    with suppress(EmbeddingError):
        provider(*configured())
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
