"""Sample and verify: draw facts, let people look at them one by one, act on what they find.

``drawing`` makes a batch, ``answering`` hands out items and takes verdicts,
``acting`` carries verdicts out after the time in which they can be taken back,
``reading`` says what the answers mean for the whole.
"""

from .acting import carry_out
from .answering import answer, open_item, settle, take_next, undo_last
from .drawing import Draw, close, draw, draw_chosen
from .reading import list_batches, load_batch, load_figures

__all__ = [
    "Draw",
    "answer",
    "carry_out",
    "close",
    "draw",
    "draw_chosen",
    "list_batches",
    "load_batch",
    "load_figures",
    "open_item",
    "settle",
    "take_next",
    "undo_last",
]
