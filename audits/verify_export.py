#!/usr/bin/env python3
"""Prove that an exported trail is complete and unedited, offline, with the public key alone.

    python verify_export.py EXPORT.jsonl --keys trail_keys [--checkpoints trail_checkpoints]
    python verify_export.py EXPORT --manifest MANIFEST.json --keys trail_keys

Needs Python 3.9 or later and the ``cryptography`` package; imports nothing of
MemConsole, opens no network, keeps one seal's events in memory. Exit code 0:
proven; 1: broken, with the first line that is not proven; 2: cannot be read.

What is proven: each sealed event has the content, number and place that were
sealed; the seals follow each other from the first without a gap, each signed by
a key of yours; in a complete export no event between its ends is missing; no
line was added, removed or changed since the export was made. What is not: that
nothing was sealed after the export's head (compare with a checkpoint), and that
a filtered export shows all that its filter matches (its writer signs for that).

With a manifest, a file of any format (JSONL, CSV, OCSF) is compared with what was
signed for when it was made: its bytes, its rows, where the trail stood. A CSV or OCSF
file proves no single event; the JSONL of the same events does.
"""

from __future__ import annotations

import argparse
import base64
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT = "memconsole-export/1"
SEAL = "memconsole-seal/1"
CHECKPOINT = "memconsole-checkpoint/1"
MANIFEST = "memconsole-manifest/1"
GENESIS = "00" * 32

Keys = Mapping[str, Ed25519PublicKey]
Checkpoints = dict[int, tuple[str, int]]  # seal number -> digest, last position


class BrokenError(Exception):
    """Something is not proven; says what."""


def read_keys(path: str) -> dict[str, Ed25519PublicKey]:
    """Return the public keys of a file: one a line, base64 last, by their id."""
    keys = {}
    with Path(path).open(encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words and not words[0].startswith("#"):
                raw = base64.b64decode(words[-1], validate=True)
                keys[sha256(raw).hexdigest()[:16]] = Ed25519PublicKey.from_public_bytes(raw)
    return keys


def check_signature(keys: Keys, key_id: str, text: str, signature: str, what: str) -> None:
    """Raise BrokenError unless ``signature`` is that of ``text`` under the named key."""
    if key_id not in keys:
        raise BrokenError(f"{what} is signed by key {key_id}, which is not among yours")
    try:
        raw = base64.b64decode(signature, validate=True)
        if base64.b64encode(raw).decode() != signature:  # spare bits could be edited unseen
            raise ValueError(signature)
        keys[key_id].verify(raw, text.encode())
    except (InvalidSignature, ValueError):
        raise BrokenError(f"the signature of {what} does not match") from None


def node(left: bytes, right: bytes) -> bytes:
    """Hash an inner node (RFC 6962)."""
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the Merkle root over leaf hashes (RFC 6962)."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root_of(leaves[:split]), root_of(leaves[split:]))


def root_from(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """Return the root to which an inclusion proof leads, None for one of a wrong length."""
    found, last = leaf, size - 1
    for sibling in proof:
        if last == 0:
            return None
        if index & 1 or index == last:
            found = node(sibling, found)
            while index and not index & 1:
                index >>= 1
                last >>= 1
        else:
            found = node(found, sibling)
        index >>= 1
        last >>= 1
    return found if last == 0 else None


class Verifier:
    """Reads an export line by line and keeps what the next line must follow."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self.checkpoints: Checkpoints = {}
        self.header: dict[str, Any] = {}
        self.is_over = False
        self.hash = sha256()
        self.number, self.last, self.digest = 0, 0, GENESIS
        # Events since the last seal: position, leaf hash, proof.
        self.waiting: list[tuple[int, bytes, list[str] | None]] = []
        self.counts = {"events": 0, "unsealed": 0, "seals": 0}

    def line(self, raw: bytes) -> None:
        """Take in one line."""
        if self.is_over:
            raise BrokenError("there is a line after the end")
        if not raw.endswith(b"\n"):
            raise BrokenError("the line is cut off")
        try:
            text = raw.decode("utf-8")
            said = json.loads(text)
            kind = said["type"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BrokenError("the line is not one of an export") from None
        if (kind == "header") != (not self.header):
            raise BrokenError("the header must be the first line and only there")
        try:
            {
                "header": self._header,
                "event": self._event,
                "seal": self._seal,
                "unsealed": self._unsealed,
                "end": self._end,
            }[kind](said, text[:-1])
        except (KeyError, TypeError, ValueError):
            raise BrokenError("the line is not one of an export") from None
        self.hash.update(raw)

    def _header(self, said: dict[str, Any], text: str) -> None:
        if said["format"] != FORMAT:
            raise BrokenError(f"the format is {said['format']}, not {FORMAT}")
        self.header = said

    def _event(self, said: dict[str, Any], text: str) -> None:
        position, proof = said["position"], said.get("proof")
        begin = f'{{"type":"event","position":{position},'
        if proof is not None:
            begin += f'"proof":{json.dumps(proof, separators=(",", ":"))},'
        begin += '"event":'
        if not text.startswith(begin) or not text.endswith("}"):
            raise BrokenError(f"event #{position} is not written as exports write it")
        if position <= self.last or (self.waiting and position <= self.waiting[-1][0]):
            raise BrokenError(f"event #{position} is out of order")
        leaf = sha256(b"\x00" + f"{position} {text[len(begin) : -1]}".encode()).digest()
        self.waiting.append((position, leaf, proof))
        self.counts["events"] += 1

    def _seal(self, said: dict[str, Any], text: str) -> None:
        number, first, last = said["number"], said["first"], said["last"]
        signed = (
            f"{SEAL}\nworkspace {self.header['workspace']}\nnumber {number}\nfirst {first}\n"
            f"last {last}\nsealed_at {said['sealed_at']}\nprevious {said['previous']}\n"
            f"root {said['root']}\nkey {said['key']}\n"
        )
        if number != self.number + 1:
            raise BrokenError(f"seal {self.number + 1} is missing")
        if first != self.last + 1 or last < first:
            raise BrokenError(f"seal {number} covers #{first}-#{last}, after #{self.last}")
        if said["previous"] != self.digest:
            raise BrokenError(f"seal {number} does not follow the seal before it")
        check_signature(self.keys, said["key"], signed, said["signature"], f"seal {number}")
        self._prove_events(number, first, last, bytes.fromhex(said["root"]))
        self.number, self.last = number, last
        self.digest = sha256(signed.encode()).hexdigest()
        self.counts["seals"] += 1
        noted = self.checkpoints.get(number)
        if noted is not None and noted[0] != self.digest:
            raise BrokenError(f"seal {number} is not the one of your checkpoint")

    def _prove_events(self, number: int, first: int, last: int, root: bytes) -> None:
        size, waiting = last - first + 1, self.waiting
        self.waiting = []
        if waiting and waiting[-1][0] > last:
            raise BrokenError(f"event #{waiting[-1][0]} is not under seal {number}")
        wanted = range(max(first, self.header["first"]), min(last, self.header["last"]) + 1)
        if self.header["complete"] and [position for position, _, _ in waiting] != list(wanted):
            there = {position for position, _, _ in waiting}
            missing = next((p for p in wanted if p not in there), None)
            raise BrokenError(
                "there are events outside the export's ends"
                if missing is None
                else f"event #{missing} is missing"
            )
        if len(waiting) == size:
            if root_of([leaf for _, leaf, _ in waiting]) != root:
                raise BrokenError(f"events #{first}-#{last} are not those under seal {number}")
            return
        for position, leaf, proof in waiting:
            path = [bytes.fromhex(one) for one in proof or []]
            if root_from(leaf, position - first, size, path) != root:
                raise BrokenError(f"event #{position} is not the one under seal {number}")

    def _unsealed(self, said: dict[str, Any], text: str) -> None:
        if self.waiting:
            raise BrokenError(f"event #{self.waiting[0][0]} is under no seal")
        self.counts["unsealed"] += 1

    def _end(self, said: dict[str, Any], text: str) -> None:
        if self.waiting:
            raise BrokenError(f"event #{self.waiting[0][0]} is under no seal")
        digest = self.hash.hexdigest()
        signed = f"{FORMAT}\nworkspace {self.header['workspace']}\n" + "".join(
            f"{name} {said[name]}\n" for name in ("events", "unsealed", "seals", "sha256", "key")
        )
        check_signature(self.keys, said["key"], signed, said["signature"], "the export's last line")
        if said["sha256"] != digest:
            raise BrokenError("a line before the end was added, removed or changed")
        if {name: said[name] for name in self.counts} != self.counts:
            raise BrokenError(f"the file holds {self.counts}, its last line says otherwise")
        expected = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        if text != expected:
            raise BrokenError("the last line is not written as exports write it")
        self.is_over = True

    def finish(self) -> None:
        """Check what only the whole file can tell."""
        if not self.is_over:
            raise BrokenError("the export is cut off: its last line is missing")
        newest = max(self.checkpoints, default=0)
        if newest > self.number:
            raise BrokenError(
                f"the export ends at seal {self.number}, your checkpoint knows seal {newest}"
            )

    def sentence(self) -> str:
        """Return what was proven."""
        header, counts = self.header, self.counts
        if header["complete"]:
            what = f"#{header['first']} to #{header['last']} without a gap"
        else:
            what = f"of #{header['first']} to #{header['last']}, filter {header['filter']!r}"
        return (
            f"PROVEN: {counts['events']} events, {what}, under {counts['seals']} seals;"
            f" {counts['unsealed']} more were not sealed yet. Head: seal {self.number},"
            f" {self.digest}"
        )


def read_checkpoints(path: str, keys: Keys, workspace: str) -> Checkpoints:
    """Return the notes of one workspace: seal number -> (digest, last position).

    BrokenError: one is not signed, or two contradict each other.
    """
    notes: Checkpoints = {}
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            said = json.loads(line, object_pairs_hook=once)
            if said["workspace"] != workspace:
                continue
            signed = (
                f"{CHECKPOINT}\nworkspace {workspace}\nseal {said['seal']}\nlast {said['last']}\n"
                f"digest {said['digest']}\nat {said['at']}\nkey {said['key']}\n"
            )
            what = f"line {number} of the checkpoints"
            check_signature(keys, said["key"], signed, said["signature"], what)
            note = (said["digest"], said["last"])
            if notes.setdefault(said["seal"], note)[0] != note[0]:
                raise BrokenError(f"two of your checkpoints tell seal {said['seal']} differently")
    return notes


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON that names each of its fields once: readers differ on the others."""
    said = dict(pairs)
    if len(said) != len(pairs):
        raise ValueError("a field is named twice")
    return said


def read_manifest(path: str) -> dict[str, Any]:
    """Return a manifest as it was written, believed or not."""
    said = json.loads(Path(path).read_text("utf-8"), object_pairs_hook=once)
    if not isinstance(said, dict):
        raise ValueError("the manifest is not a JSON object")
    return said


def check_manifest(keys: Keys, manifest: Mapping[str, Any]) -> None:
    """Raise BrokenError unless the manifest is as it was signed."""
    said = {name: value for name, value in manifest.items() if name != "signature"}
    if said.get("format") != MANIFEST:
        raise BrokenError(f"the manifest's format is {said.get('format')}, not {MANIFEST}")
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    check_signature(keys, said["key"], text, manifest["signature"], "the manifest")


def check_file(manifest: Mapping[str, Any], path: str, checkpoints: Checkpoints) -> str:
    """Compare a file with its manifest; return what was proven."""
    (said,) = manifest["files"]
    digest, size = sha256(), 0
    with Path(path).open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    if size != said["bytes"]:
        raise BrokenError(f"the file has {size} bytes, its manifest says {said['bytes']}")
    if digest.hexdigest() != said["sha256"]:
        raise BrokenError("the file is not the one of the manifest: its SHA-256 differs")
    rows = count_rows(path, said["format"])
    if rows != said["rows"]:
        raise BrokenError(f"the file has {rows} rows, its manifest says {said['rows']}")
    head = manifest["head"]
    noted = checkpoints.get(head["seal"])
    if noted is not None and noted[0] != head["digest"]:
        raise BrokenError(f"seal {head['seal']} is not the one of your checkpoint")
    newest = max(checkpoints, default=0)
    if newest > head["seal"]:
        raise BrokenError(
            f"the export ends at seal {head['seal']}, your checkpoint knows seal {newest}"
        )
    return (
        f"AS SIGNED: {said['name']} has the {rows} rows and {size} bytes that were signed for at"
        f" {manifest['exported_at']} for {manifest['exported_by']}, filter {manifest['filter']!r}."
        f" Head: seal {head['seal']}, {head['digest']}"
    )


def count_rows(path: str, kind: str) -> int:
    """Count the events of a file."""
    with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        if kind == "csv":
            csv.field_size_limit(1 << 30)
            return sum(1 for _ in csv.reader(file)) - 1
        if kind == "jsonl":
            return sum(1 for line in file if line.startswith(('{"type":"event"', '{"type":"uns')))
        return sum(1 for _ in file)


def prove(verifier: Verifier, path: str, checkpoints: str | None) -> str:
    """Check a JSONL export line by line; return what was proven."""
    number = 0
    try:
        with Path(path).open("rb") as file:
            for number, raw in enumerate(file, 1):
                verifier.line(raw)
                if number == 1 and checkpoints:
                    workspace = verifier.header["workspace"]
                    verifier.checkpoints = read_checkpoints(checkpoints, verifier.keys, workspace)
        verifier.finish()
    except BrokenError as broken:
        raise BrokenError(f"line {number}: {broken}") from None
    return verifier.sentence()


def check(export: str, keys: Keys, checkpoints: str | None, manifest: str | None) -> list[str]:
    """Check a file with everything there is to check it with; return what was proven."""
    proven = []
    kind = "jsonl"
    if manifest is not None:
        said = read_manifest(manifest)
        check_manifest(keys, said)
        notes = read_checkpoints(checkpoints, keys, said["workspace"]) if checkpoints else {}
        proven.append(check_file(said, export, notes))
        kind = said["files"][0]["format"] if said["kind"] == "trail" else "other"
    if kind == "jsonl":
        proven.insert(0, prove(Verifier(keys), export, checkpoints))
    return proven


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify the file that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("export", help="the exported file: JSONL, or any with its manifest")
    parser.add_argument("--keys", required=True, help="the file of public keys you trust")
    parser.add_argument("--checkpoints", help="checkpoints that you kept outside")
    parser.add_argument("--manifest", help="the manifest that came with the export")
    chosen = parser.parse_args(arguments)
    try:
        keys = read_keys(chosen.keys)
        proven = check(chosen.export, keys, chosen.checkpoints, chosen.manifest)
    except BrokenError as broken:
        where = "at " if str(broken).startswith("line ") else ""
        sys.stdout.write(f"BROKEN {where}{broken}.\n")
        return 1
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        sys.stderr.write(f"Cannot be read: {error}\n")
        return 2
    sys.stdout.write("\n".join(proven) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
