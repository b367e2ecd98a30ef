"""What an operator's ID was made of, and the ID itself once more.

The planner makes IDs, and says nothing but the result. This is the same algorithm, written down a second time for the
sake of its inputs: operators get their IDs breadth-first from the sources, in the order of their numbers. One with a
uid has the murmur3_128 of it. One without has a hash of how many operators had their ID before it, put in once, and
once more for every output that is chained; then the IDs of its inputs are folded in, in order.

Source of the semantics: ``StreamGraphHasherV2`` (Flink 1.11 and 2.3 alike).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from penstock.plan import StreamEdge, StreamGraph, StreamNode

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


class InputId(NamedTuple):
    """An input whose ID entered.

    Attributes:
        edge: index of the edge.
        source: node.
        operator_id: of the node.
    """

    edge: int
    source: int
    operator_id: str


class Ingredients(NamedTuple):
    """What an ID was made of.

    Attributes:
        node: the operator.
        operator_id: the ID, 32 hex digits.
        uid: text that was hashed; None for a position.
        place: how many operators had their ID before; it enters for a position only.
        chained_outputs: edges; for each the place enters once more.
        inputs: whose IDs entered, in order.
    """

    node: int
    operator_id: str
    uid: str | None
    place: int
    chained_outputs: tuple[int, ...] = ()
    inputs: tuple[InputId, ...] = ()


def ingredients(graph: StreamGraph) -> dict[int, Ingredients]:
    """What the IDs of all operators were made of, by node, in the order in which they got them. Nodes that no source
    reaches are absent. O(V + E).

    Args:
        graph: of the program; a graph whose uids collide has no IDs, which the planner says.
    """
    nodes = {node.id: node for node in graph.nodes}
    edges = graph.edges
    chained = {verdict.edge for verdict in graph.verdicts() if verdict.chained}
    order = hashing_order(
        graph.source_ids,
        lambda node: nodes[node].uid is not None,
        lambda node: (edges[each].source for each in nodes[node].in_edges),
        lambda node: (edges[each].target for each in nodes[node].out_edges),
    )
    made: dict[int, Ingredients] = {}
    for node in order:
        made[node] = _made_of(nodes[node], edges, chained, made)
    return made


def hashing_order(
    begins: Iterable[int],
    named: Callable[[int], bool],
    sources: Callable[[int], Iterable[int]],
    targets: Callable[[int], Iterable[int]],
) -> tuple[int, ...]:
    """The nodes in the order in which they get their IDs; those that nothing reaches are absent. O(V + E).

    Args:
        begins: the nodes without inputs.
        named: whether a node has a uid, and so need not wait for its inputs.
        sources, targets: of the edges into a node, and out of it.
    """
    queue = deque(sorted(begins))
    waiting, made = set(queue), dict[int, None]()
    while queue:
        node = queue.popleft()
        if not named(node) and any(source not in made for source in sources(node)):
            waiting.discard(node)  # it comes back when another of its inputs has got its ID
            continue
        made[node] = None
        for target in targets(node):
            if target not in waiting:
                waiting.add(target)
                queue.append(target)
    return tuple(made)


def _made_of(node: StreamNode, edges: list[StreamEdge], chained: set[int], made: dict[int, Ingredients]) -> Ingredients:
    place = len(made)
    if node.uid is not None:
        return Ingredients(node.id, murmur3_128(node.uid.encode()).hex(), node.uid, place)
    outputs = tuple(each for each in node.out_edges if each in chained)
    sources = ((edge, edges[edge].source) for edge in node.in_edges)
    inputs = tuple(InputId(edge, source, made[source].operator_id) for edge, source in sources)
    return Ingredients(node.id, _of_position(place, len(outputs), inputs).hex(), None, place, outputs, inputs)


def _of_position(place: int, chained_outputs: int, inputs: tuple[InputId, ...]) -> bytes:
    made = bytearray(murmur3_128(place.to_bytes(4, "little") * (1 + chained_outputs)))
    for each in inputs:
        for j, byte in enumerate(bytes.fromhex(each.operator_id)):
            made[j] = (made[j] * 37 ^ byte) & 0xFF
    return bytes(made)


def murmur3_128(data: bytes) -> bytes:
    """The 128-bit hash of Guava's ``Hashing.murmur3_128(0)``. O(bytes).

    Args:
        data: to be hashed.
    """
    h1 = h2 = 0
    whole = len(data) & ~15
    for at in range(0, whole, 16):
        h1 ^= _mixed(int.from_bytes(data[at : at + 8], "little"), _C1, 31, _C2)
        h1 = (_rotated(h1, 27) + h2) * 5 + 0x52DCE729 & _MASK
        h2 ^= _mixed(int.from_bytes(data[at + 8 : at + 16], "little"), _C2, 33, _C1)
        h2 = (_rotated(h2, 31) + h1) * 5 + 0x38495AB5 & _MASK
    h1 ^= _mixed(int.from_bytes(data[whole : whole + 8], "little"), _C1, 31, _C2)
    h2 ^= _mixed(int.from_bytes(data[whole + 8 :], "little"), _C2, 33, _C1)
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    h1, h2 = _final(h1), _final(h2)
    h1 = h1 + h2 & _MASK
    return h1.to_bytes(8, "little") + (h2 + h1 & _MASK).to_bytes(8, "little")


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _mixed(value: int, first: int, bits: int, second: int) -> int:
    return _rotated(value * first & _MASK, bits) * second & _MASK


def _final(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
