"""The Merkle tree of RFC 6962: roots, and proofs that a leaf or an older tree is inside.

Owns the hashing of leaves and nodes. Pure. Leaves and nodes are hashed with
different prefixes, so that a node can never be passed off as an event. Read
``seals.py`` for what the leaves are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

HASH_LENGTH = 32
EMPTY_ROOT = sha256(b"").digest()

Memo = dict[tuple[int, int], bytes]  # the roots of ranges of one tree's leaves


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf's bytes."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def root(leaves: Iterable[bytes]) -> bytes:
    """Return the root over leaf hashes, level by level: an odd one out rises as it is.

    That is RFC 6962's tree, and in half the time of one that splits or stacks.
    """
    level = list(leaves)
    if not level:
        return EMPTY_ROOT
    while len(level) > 1:
        odd = level[-1:] if len(level) & 1 else []
        level = [
            sha256(b"\x01" + left + right).digest()
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level += odd
    return level[0]


def inclusion_proof(leaves: Sequence[bytes], index: int, memo: Memo | None = None) -> list[bytes]:
    """Return the hashes that lead from leaf ``index`` to the root, nearest first.

    Proofs of one tree that share a ``memo`` hash each of its nodes once.
    """
    _require(0 <= index < len(leaves), "index", index)
    known: Memo = {} if memo is None else memo
    proof: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            proof.append(_subtree(leaves, middle, high, known))
            high = middle
        else:
            proof.append(_subtree(leaves, low, middle, known))
            low = middle
    return proof[::-1]


def root_from_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """Return the root that a proof leads to, ``None`` when its length cannot be right."""
    if not 0 <= index < size:
        return None
    node, position, last = leaf, index, size - 1
    for sibling in proof:
        if last == 0:
            return None
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        position >>= 1
        last >>= 1
    return node if last == 0 else None


def consistency_proof(leaves: Sequence[bytes], old_size: int) -> list[bytes]:
    """Return the hashes that show the tree of the first ``old_size`` leaves inside this one."""
    _require(0 < old_size <= len(leaves), "old_size", old_size)
    proof: list[bytes] = []
    low, high, wanted, whole = 0, len(leaves), old_size, True
    while wanted != high - low:
        middle = _split(high - low)
        if wanted <= middle:
            proof.append(root(leaves[low + middle : high]))
            high = low + middle
        else:
            proof.append(root(leaves[low : low + middle]))
            low, wanted, whole = low + middle, wanted - middle, False
    if not whole:
        proof.append(root(leaves[low:high]))
    return proof[::-1]


def is_consistent(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Say whether a proof shows that the new tree only added leaves to the old one."""
    if not 0 < old_size <= new_size:
        return False
    if old_size == new_size:
        return not proof and old_root == new_root
    hashes = list(proof)
    if old_size & (old_size - 1) == 0:  # a complete subtree: its root is the first hash
        hashes.insert(0, old_root)
    if not hashes:
        return False
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and old == old_root and new == new_root


def _subtree(leaves: Sequence[bytes], low: int, high: int, memo: Memo) -> bytes:
    if high - low == 1:
        return leaves[low]
    if (low, high) not in memo:
        middle = low + _split(high - low)
        left = _subtree(leaves, low, middle, memo)
        memo[low, high] = node_hash(left, _subtree(leaves, middle, high, memo))
    return memo[low, high]


def _split(size: int) -> int:
    """Return the largest power of two smaller than ``size``."""
    return 1 << (size - 1).bit_length() - 1


def _require(holds: bool, name: str, value: int) -> None:
    if not holds:
        raise ValueError(f"{name} is out of range: {value}")
