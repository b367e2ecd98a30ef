"""Operator IDs: 16 bytes per reached node."""

from __future__ import annotations

import struct
from collections import deque

import mmh3

from tests.reference import errors
from tests.reference.chaining import Chainability
from tests.reference.errors import FlinkError
from tests.reference.stream_graph import Node, StreamGraph


def murmur3_128(data: bytes) -> bytes:
    """murmur3, 128 bits, x64 variant, seed 0: both halves little-endian."""
    return mmh3.hash_bytes(data, 0, True)


def operator_ids(graph: StreamGraph, chainable: Chainability) -> dict[int, bytes]:
    """IDs by node id, in the order in which they were made; nodes that no source reaches are absent."""
    hashes: dict[int, bytes] = {}
    sources = sorted(graph.source_ids())
    waiting = deque(sources)
    visited = set(sources)
    while waiting:
        node = graph.nodes[waiting.popleft()]
        if node.uid is None and any(edge.source.id not in hashes for edge in node.in_edges):
            visited.discard(node.id)  # it comes back when another of its inputs has got its ID
            continue
        if node.uid is None:
            hashes[node.id] = _position_hash(node, hashes, chainable)
        else:
            hashes[node.id] = _uid_hash(node.uid, hashes)
        for edge in node.out_edges:
            if edge.target.id not in visited:
                visited.add(edge.target.id)
                waiting.append(edge.target.id)
    return hashes


def _uid_hash(uid: str, hashes: dict[int, bytes]) -> bytes:
    result = murmur3_128(uid.encode())
    if result in hashes.values():
        raise FlinkError(errors.ILLEGAL_ARGUMENT, f'Hash collision on user-specified ID "{uid}"')
    return result


def _position_hash(node: Node, hashes: dict[int, bytes], chainable: Chainability) -> bytes:
    """The number of IDs so far, for the node and for each operator chained to it; then each input's ID folded in."""
    count = struct.pack("<i", len(hashes))
    times = 1 + sum(chainable(edge) for edge in node.out_edges)
    result = murmur3_128(count * times)
    for edge in node.in_edges:
        result = bytes((mine * 37 ^ theirs) & 0xFF for mine, theirs in zip(result, hashes[edge.source.id], strict=True))
    return result


def user_hashes(graph: StreamGraph) -> dict[int, bytes]:
    """The IDs given as hex text, by node id; of any length."""
    return {node.id: _parse_hex(node.user_hash) for node in graph.nodes.values() if node.user_hash is not None}


def _parse_hex(text: str) -> bytes:
    """Pairs of digits, an odd last one ignored; Java's number parser also takes a sign and one digit for a pair."""
    pairs = [text[2 * i : 2 * i + 2] for i in range(len(text) // 2)]
    if any(set(pair.lstrip("+-")) - set("0123456789abcdefABCDEF") or pair[1] in "+-" for pair in pairs):
        raise FlinkError(errors.NUMBER_FORMAT, f"not hexadecimal: {text!r}")
    return bytes(int(pair, 16) & 0xFF for pair in pairs)
