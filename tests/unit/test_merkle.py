"""The tree of RFC 6962: known roots and proofs, and that nothing else is proven."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.merkle import (
    EMPTY_ROOT,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    leaf_hash,
    node_hash,
    root,
    root_from_inclusion,
)

# The test vectors of Certificate Transparency's reference implementation.
INPUTS = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    bytes(range(0x50, 0x58)),
    bytes(range(0x60, 0x70)),
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(data) for data in INPUTS]
SIZES = st.integers(min_value=1, max_value=70)


def leaves(size: int) -> list[bytes]:
    return [leaf_hash(str(n).encode()) for n in range(size)]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_those_of_the_reference_implementation(size: int) -> None:
    assert root(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_empty_tree_has_the_hash_of_nothing() -> None:
    assert root([]) == EMPTY_ROOT == sha256(b"").digest()


def test_proofs_are_those_of_the_reference_implementation() -> None:
    assert [one.hex() for one in inclusion_proof(LEAVES, 5)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [one.hex() for one in consistency_proof(LEAVES, 6)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_node_cannot_be_passed_off_as_a_leaf() -> None:
    left, right = LEAVES[0], LEAVES[1]
    assert leaf_hash(left + right) != node_hash(left, right)


@given(size=SIZES, data=st.data())
def test_every_leaf_is_proven_and_no_other(size: int, data: st.DataObject) -> None:
    tree = leaves(size)
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(tree, index)
    assert root_from_inclusion(tree[index], index, size, proof) == root(tree)
    assert root_from_inclusion(leaf_hash(b"forged"), index, size, proof) != root(tree)
    other = data.draw(st.integers(0, size - 1))
    if other != index:
        assert root_from_inclusion(tree[index], other, size, proof) != root(tree)
    assert root_from_inclusion(tree[index], index, size, [*proof, bytes(32)]) != root(tree)
    if proof:
        assert root_from_inclusion(tree[index], index, size, proof[:-1]) != root(tree)
    assert root_from_inclusion(tree[index], size, size, proof) is None


@given(size=SIZES, data=st.data())
def test_older_tree_is_proven_inside_and_a_changed_one_is_not(
    size: int, data: st.DataObject
) -> None:
    tree = leaves(size)
    old = data.draw(st.integers(1, size))
    proof = consistency_proof(tree, old)
    old_root, new_root = root(tree[:old]), root(tree)
    assert is_consistent(old, old_root, size, new_root, proof)
    changed = [*tree[: old - 1], leaf_hash(b"forged")]
    assert not is_consistent(old, root(changed), size, new_root, proof)
    assert not is_consistent(old, old_root, size, root([*tree, tree[0]]), proof)
    assert not is_consistent(old, old_root, size, new_root, [*proof, bytes(32)])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3)])
def test_proof_of_a_leaf_that_is_not_there_is_refused(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="index is out of range"):
        inclusion_proof(leaves(size), index)
    with pytest.raises(ValueError, match="old_size is out of range"):
        consistency_proof(leaves(size), 0)
