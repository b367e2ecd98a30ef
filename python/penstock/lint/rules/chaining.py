"""PS3xx, the second half: settings of tasks and slots that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.plan import StreamGraph

_NEVER = "NEVER"


class ChainingDisabledInVain(Rule):
    """`disable_chaining` is called on an operator that would be in no chain anyway.

    Its neighbours are behind an exchange, have another parallelism or are in other chains. The call has no effect now,
    and costs a task of its own on the day when one of them changes.

    Bad::

        orders.rebalance().map(lambda order: order[1]).disable_chaining().set_parallelism(3).rebalance().print()

    Good::

        orders.rebalance().map(lambda order: order[1]).set_parallelism(3).rebalance().print()
    """

    code = "PS310"

    def find(self, subject: Subject) -> Iterator[Found]:
        never = {number for number, node in subject.nodes.items() if node.chaining_strategy == _NEVER}
        if not never:
            return
        chained = _chained_otherwise(subject.pipeline.stream_graph)
        edges = [edge for edge, would_be in zip(subject.edges, chained, strict=True) if would_be]
        effective = {edge.source for edge in edges} | {edge.target for edge in edges}
        for number, node in subject.nodes.items():
            if number in never and number not in effective:
                yield Found(
                    f"disable_chaining() of {node.name!r} has no effect: nothing could be chained to it. Remove it.",
                    number,
                )


def _chained_otherwise(graph: StreamGraph) -> list[bool]:
    """Whether each edge would be chained if no operator forbade it."""
    spec = cast("dict[str, Any]", graph.to_dict())
    for node in spec["nodes"]:
        if node.get("chaining_strategy") == _NEVER:
            node["chaining_strategy"] = "ALWAYS"
    return [verdict.chained for verdict in StreamGraph.from_dict(spec).verdicts()]


class SlotSharingGroupInVain(Rule):
    """All operators are in one slot sharing group that has been given a name.

    Groups keep operators in different slots. Where every operator inherits the one that is named, nothing is kept
    apart, and it is as if there were none.

    Bad::

        source = env.from_source(endless, in_order, "clicks").slot_sharing_group("clicks")
        source.map(lambda click: click[0]).print()

    Good::

        source = env.from_source(endless, in_order, "clicks").slot_sharing_group("clicks")
        source.map(lambda click: click[0]).slot_sharing_group("work").print()
    """

    code = "PS311"

    def find(self, subject: Subject) -> Iterator[Found]:
        groups = {node.slot_sharing_group for node in subject.nodes.values()}
        group = next(iter(groups), None)
        if len(groups) == 1 and group not in (None, "default"):
            first = next(iter(subject.nodes.values()))
            yield Found(
                f"All operators are in the slot sharing group {group!r}, so nothing is kept apart. Remove it, or give "
                "some of them another one.",
                first.id,
            )
