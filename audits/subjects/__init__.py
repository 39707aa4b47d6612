"""Requests of data subjects: what is kept about somebody, shown to them or destroyed.

``requests`` makes them and lets an erasure run, ``bundle`` is the answer to a
request for access, ``finishing`` sees an erasure to its end, ``certificate``
says what was done. What erasing a record means is ``records.curate.erase``'s
and ``records.erasing``'s. See docs/privacy.md.
"""

from audits.subjects.requests import (
    Wanted,
    erase,
    make_request,
    preview_again,
    words_of_request,
)

__all__ = ["Wanted", "erase", "make_request", "preview_again", "words_of_request"]
