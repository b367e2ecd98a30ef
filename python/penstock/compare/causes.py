"""Causes of changed operator IDs: the first ingredient of the ID that an edit has changed.

A changed uid is the cause itself. Without a uid the cause is, in this order, an input that was added, removed or
replaced; an input whose own ID has changed, with the cause of that; the number of chained outputs; or the number of IDs
that are made before. So an edit is named once, however many IDs it changes.

Cost: O(operators + edges) for all causes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.analysis.model import EdgeModel, OperatorModel, Site
from penstock.compare.graph import Graph
from penstock.compare.pairs import Pairs

UID_ADDED, UID_CHANGED, UID_REMOVED = "uid added", "uid changed", "uid removed"
INSERTED, REMOVED, INPUTS = "inserted upstream", "removed upstream", "other inputs"
CHAINED_ADDED, CHAINED_REMOVED = "chained output added", "chained output removed"
CHAIN_BROKEN, CHAIN_MADE = "chain broken", "chain made"
SOURCE_ADDED, SOURCE_REMOVED = "source added before", "source removed before"
ADDED_BEFORE, REMOVED_BEFORE, ORDER = "operator added before", "operator removed before", "other order"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Cause:
    """Why an ID has changed."""

    kind: str  # one of the above
    subject: str  # name of the edited operator
    text: str  # a sentence, without its end
    rule: str | None = None  # the chaining rule that made or broke a chain
    site: Site | None = None  # the call that makes the subject in the new program, or made it in the old one

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        fields = {"kind": self.kind, "subject": self.subject, "text": self.text, "rule": self.rule}
        return {**fields, **placed(self.site)}


def placed(site: Site | None) -> dict[str, Any]:
    """A place, for JSON; nothing without one."""
    return {} if site is None else {"file": site.file, "line": site.line}


def causes(old: Graph, new: Graph, pairs: Pairs) -> dict[int, Cause]:
    """The causes of pairs with different IDs, by new node."""
    search = _Search(old, new, pairs)
    by_node: dict[int, Cause] = {}
    for node in new.order:  # inputs first, so their causes are known
        before = pairs.old_of.get(node)
        if before is not None and old.model.by_node[before].operator_id != new.model.by_node[node].operator_id:
            by_node[node] = search.of(before, node, by_node)
    return by_node


class _Search:
    """Finds the causes of one comparison."""

    def __init__(self, old: Graph, new: Graph, pairs: Pairs) -> None:
        self.old, self.new, self.pairs = old, new, pairs
        self._anchors = dict(self._walk())
        self._upstream = self._edits()

    def of(self, before: int, node: int, known: Mapping[int, Cause]) -> Cause:
        """The first cause of a pair; ``known`` are the causes of IDs that are made earlier."""
        old, new = self.old.model.by_node[before], self.new.model.by_node[node]
        if (old.uid is not None or new.uid is not None) and old.uid != new.uid:
            return _uid(old, new)
        if not (self.old.model.edges and self.new.model.edges):
            return Cause(UNKNOWN, new.name, "one of both sides has no graph to compare", site=new.site)
        return (
            self._inputs(before, node)
            or next((known[source] for source in self.new.inputs(node) if source in known), None)
            or self._outputs(before, node)
            or self._earlier(node)
            or Cause(UNKNOWN, new.name, "all that the ID is made of is the same", site=new.site)
        )

    def _inputs(self, before: int, node: int) -> Cause | None:
        """The inputs have changed."""
        was = [self.old.model.by_node[source] for source in self.old.inputs(before)]
        now = [self.new.model.by_node[source] for source in self.new.inputs(node)]
        if [operator.node for operator in was] == [self.pairs.old_of.get(operator.node) for operator in now]:
            return None
        reader = self.new.model.by_node[node]
        for operator in now:
            if operator.node not in self.pairs.old_of:
                text = f"{operator.name!r} is new, and {reader.name!r} reads it"
                return Cause(INSERTED, operator.name, text, None, operator.site)
        for operator in was:
            if operator.node not in self.pairs.new_of:
                text = f"{operator.name!r}, which {reader.name!r} has read, is gone"
                return Cause(REMOVED, operator.name, text, None, reader.site)
        names = (", ".join(repr(operator.name) for operator in side) or "nothing" for side in (now, was))
        text = "{!r} reads {}, and has read {}".format(reader.name, *names)
        return Cause(INPUTS, reader.name, text, None, reader.site)

    def _edits(self) -> dict[int, Cause]:
        """The insertions and removals upstream of new nodes."""
        by_node: dict[int, Cause] = {}
        for node in self.new.order:
            before = self.pairs.old_of.get(node)
            cause = None if before is None else self._inputs(before, node)
            if cause is None or cause.kind == INPUTS:
                cause = next((by_node[source] for source in self.new.inputs(node) if source in by_node), None)
            if cause is not None:
                by_node[node] = cause
        return by_node

    def _outputs(self, before: int, node: int) -> Cause | None:
        """The number of chained outputs has changed."""
        was, now = self.old.chained(before), self.new.chained(node)
        if len(was) == len(now):
            return None
        name = self.new.model.by_node[node].name
        old_targets = {edge.target for edge in was}
        new_targets = {self.pairs.old_of.get(edge.target) for edge in now}
        gained = [edge for edge in now if self.pairs.old_of.get(edge.target) not in old_targets]
        lost = [edge for edge in was if edge.target not in new_targets]
        if gained:
            return self._gained(name, before, gained[0])
        if lost:
            return self._lost(name, node, lost[0])
        text = f"{name!r} has {len(now)} chained outputs, and had {len(was)}"
        return Cause(CHAINED_ADDED if len(now) > len(was) else CHAINED_REMOVED, name, text)

    def _gained(self, name: str, before: int, edge: EdgeModel) -> Cause:
        target = self.new.model.by_node[edge.target]
        was = self.pairs.old_of.get(edge.target)
        for other in self.old.out[before]:
            if other.target == was:
                rule, why = self._rule(other, edge, self.old, self.new)
                text = f"{target.name!r} is chained to {name!r} now; it was not: {why}"
                return Cause(CHAIN_MADE, target.name, text, rule, target.site)
        moved = None if was is None else self._inputs(was, edge.target)
        if moved is not None and moved.kind != INPUTS:
            return moved
        what = "is new" if was is None else "reads it now"
        return Cause(CHAINED_ADDED, target.name, f"{target.name!r} {what}, chained to {name!r}", None, target.site)

    def _lost(self, name: str, node: int, edge: EdgeModel) -> Cause:
        target, now = self.old.model.by_node[edge.target], self.pairs.new_of.get(edge.target)
        for other in self.new.out[node]:
            if other.target == now:
                rule, why = self._rule(other, edge, self.new, self.old)
                text = f"{target.name!r} is no longer chained to {name!r}: {why}"
                return Cause(CHAIN_BROKEN, target.name, text, rule, self.new.model.by_node[other.target].site)
        moved = None if now is None else self._inputs(edge.target, now)
        if moved is not None and moved.kind != INPUTS:
            return moved
        what = "is gone" if now is None else "reads something else"
        return Cause(CHAINED_REMOVED, target.name, f"{target.name!r}, which was chained to {name!r}, {what}")

    @staticmethod
    def _rule(broken: EdgeModel, chained: EdgeModel, here: Graph, other: Graph) -> tuple[str | None, str]:
        """The rule that a broken edge violates, which is chained on the other side. Different parallelisms turn an edge
        into a REBALANCE, and are the reason then."""
        source, target = here.model.by_node[broken.source], here.model.by_node[broken.target]
        alike = other.model.by_node[chained.source].parallelism == other.model.by_node[chained.target].parallelism
        if broken.rule == "partitioner" and alike and source.parallelism != target.parallelism:
            sizes = f"{source.name!r} has parallelism {source.parallelism}, {target.name!r} {target.parallelism}"
            return "parallelism", f"{sizes} (rule parallelism)"
        why = broken.reason.rstrip(".")
        return broken.rule, f"{why} (rule {broken.rule})" if why else f"rule {broken.rule}"

    def _earlier(self, node: int) -> Cause | None:
        """More or fewer IDs are made before: the first difference behind the last pair with the same number."""
        if node not in self._anchors:
            return None
        at_old = at_new = self._anchors[node]
        old_order, new_order = self.old.order, self.new.order
        name = self.new.model.by_node[node].name
        if at_new < len(new_order) and new_order[at_new] not in self.pairs.old_of:
            operator = self.new.model.by_node[new_order[at_new]]
            text = f"{operator.name!r} is new, and gets its ID before {name!r}"
            kind = SOURCE_ADDED if operator.kind == "source" else ADDED_BEFORE
            return Cause(kind, operator.name, text, None, operator.site)
        if at_old < len(old_order) and old_order[at_old] not in self.pairs.new_of:
            operator = self.old.model.by_node[old_order[at_old]]
            text = f"{operator.name!r} is gone, which had its ID before {name!r}"
            return Cause(SOURCE_REMOVED if operator.kind == "source" else REMOVED_BEFORE, operator.name, text)
        was = old_order[at_old] if at_old < len(old_order) else None
        return self._reordered(was, new_order[at_new] if at_new < len(new_order) else node)

    def _reordered(self, was: int | None, now: int) -> Cause:
        """Two nodes of both models have changed places, because one of them or something upstream has other inputs, or
        else because lines were reordered."""
        moved = None if was is None else self._upstream.get(self.pairs.new_of[was])
        moved = moved or self._upstream.get(now)
        if moved is not None:
            return moved
        operator = self.new.model.by_node[now]
        text = f"{operator.name!r} comes at another place in the order in which the program is walked through"
        return Cause(ORDER, operator.name, text, None, operator.site)

    def _walk(self) -> Iterator[tuple[int, int]]:
        """For each new node whose number has changed: the place behind the last one whose number has not."""
        anchor = 0
        for place, node in enumerate(self.new.order):
            was = self.old.before.get(self.pairs.old_of.get(node, -1)) if node in self.pairs.old_of else None
            if was is None:
                continue
            if was == place:
                anchor = place + 1
            else:
                yield node, anchor


def _uid(old: OperatorModel, new: OperatorModel) -> Cause:
    kind, text = UID_CHANGED, f"the uid of {new.name!r} is {new.uid!r}, and was {old.uid!r}"
    if old.uid is None:
        kind, text = UID_ADDED, f"{new.name!r} has the uid {new.uid!r} now, and had none"
    elif new.uid is None:
        kind, text = UID_REMOVED, f"{new.name!r} has no uid any more; it was {old.uid!r}"
    return Cause(kind, new.name, text, None, new.site)
