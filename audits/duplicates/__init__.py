"""Facts that may say the same in other words: found by a job, decided by a person.

``finding`` suggests pairs within one partition, ``reading`` shows them as groups,
``acting`` merges them or keeps them apart. What a merge does to records is
``records.curate.merging``'s. See docs/duplicates.md.
"""

from .acting import again, keep_apart, merge, undo
from .finding import find_duplicates
from .reading import list_clusters, load_cluster, load_merges, load_ratio

__all__ = [
    "again",
    "find_duplicates",
    "keep_apart",
    "list_clusters",
    "load_cluster",
    "load_merges",
    "load_ratio",
    "merge",
    "undo",
]
