"""Pairs of operators of two programs that are the same one, as people see it: not by the operator ID alone.

A uid, or a uid hash, decides. Other operators are matched by name, type and state names, and by their surroundings: the
larger the neighbourhood that two have in common, the earlier they are paired. Then pairs lead to their neighbours, then
names count alone, then IDs; operators that remain between paired neighbours were renamed. Equal candidates are paired
by their IDs, or else in order.

Cost: O(operators + edges) per round, and there are seven; O(n log n) where operators are sorted. Deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from penstock.analysis.model import OperatorModel
from penstock.compare.graph import Graph
from penstock.compare.states import keeps

_RADII = (3, 2, 1)  # radii of the neighbourhoods that are compared, widest first
Label = Callable[[OperatorModel], Hashable]
Labels = Mapping[int, Hashable]


@dataclass
class Pairs:
    """Operators of two models that are the same one: the new node of an old one, and the old node of a new one."""

    new_of: dict[int, int] = field(default_factory=dict[int, int])
    old_of: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, old: int, new: int) -> None:
        """Add a pair."""
        self.new_of[old] = new
        self.old_of[new] = old


def match(old: Graph, new: Graph) -> Pairs:
    """The operators that both models have in common."""
    return _Matching(old, new).run()


class _Matching:
    """The rounds; each looks at the operators that no round before has paired."""

    def __init__(self, old: Graph, new: Graph) -> None:
        self._old, self._new, self._pairs = old, new, Pairs()
        sides = (old.model.operators, new.model.operators)
        self._typed = all(any(operator.type for operator in side) for side in sides)
        self._stated = all(any(operator.states is not None for operator in side) for side in sides)
        self._linked = bool(old.model.edges and new.model.edges)

    def run(self) -> Pairs:
        """All rounds, one after the other."""
        self._by(lambda operator: operator.uid)
        self._by(lambda operator: operator.pinned)
        self._by(lambda old: (old.operator_id or None) if keeps(old) else None, lambda new: new.pinned)
        self._uncross()
        for radius in _RADII if self._linked else ():
            self._by_labels(*self._surroundings(radius), strict=True)
            self._along_edges(self._name)
        self._by_labels(*self._both(self._name), strict=True)
        self._by_labels(*self._both(lambda operator: (operator.operator_id or None, self._type(operator))), strict=True)
        self._by_labels(*self._both(self._name), strict=False)
        self._by_labels(*self._both(lambda operator: operator.operator_id or None), strict=True)
        self._along_edges(self._type)
        return self._pairs

    def _type(self, operator: OperatorModel) -> Hashable:
        return (operator.kind, operator.type) if self._typed else None

    def _name(self, operator: OperatorModel) -> Hashable:
        return operator.name, self._type(operator)

    def _whole(self, operator: OperatorModel) -> Hashable:
        names = operator.states if self._stated else None
        return operator.name, self._type(operator), names and tuple(sorted(state.name for state in names))

    def _both(self, label: Label) -> tuple[Labels, Labels]:
        old, new = (
            {operator.node: label(operator) for operator in graph.model.operators} for graph in (self._old, self._new)
        )
        return old, new

    def _surroundings(self, radius: int) -> tuple[Labels, Labels]:
        """A number per operator, equal for equal neighbourhoods; a pair counts as one operator."""
        numbers: dict[Hashable, int] = {}

        def number(label: Hashable) -> int:
            return numbers.setdefault(label, len(numbers))

        def begun(graph: Graph, paired: Mapping[int, int]) -> dict[int, int]:
            pairs = ((model, paired.get(model.node)) for model in graph.model.operators)
            return {model.node: number(self._whole(model) if old is None else ("pair", old)) for model, old in pairs}

        old = begun(self._old, {node: node for node in self._pairs.new_of})
        new = begun(self._new, self._pairs.old_of)
        for _ in range(radius):
            old = {node: number(_around(self._old, node, old)) for node in old}
            new = {node: number(_around(self._new, node, new)) for node in new}
        return old, new

    def _free(self) -> tuple[list[OperatorModel], list[OperatorModel]]:
        old = [operator for operator in self._old.model.operators if operator.node not in self._pairs.new_of]
        return old, [operator for operator in self._new.model.operators if operator.node not in self._pairs.old_of]

    def _by(self, of_old: Callable[[OperatorModel], str | None], of_new: Label | None = None) -> None:
        """Pair operators that share a text; the first one of each."""
        old, new = self._free()
        by_text: dict[Hashable, OperatorModel] = {of_old(operator): operator for operator in reversed(old)}
        by_text.pop(None, None)
        for operator in new:
            if (text := (of_new or of_old)(operator)) in by_text:
                self._pairs.add(by_text.pop(text).node, operator.node)

    def _by_labels(self, old: Labels, new: Labels, *, strict: bool) -> None:
        """Pair operators with equal labels: those with the same ID first, then in order; if ``strict``, only equally
        many."""
        before, after = self._free()
        candidates = _grouped(after, new)
        for label, group in _grouped(before, old).items():
            if label is None or label not in candidates:
                continue
            left, right = self._same_id(group, candidates[label])
            if not strict or len(left) == len(right):
                for one, other in zip(left, right, strict=False):
                    self._pairs.add(one.node, other.node)

    def _same_id(
        self, old: Iterable[OperatorModel], new: list[OperatorModel]
    ) -> tuple[list[OperatorModel], list[OperatorModel]]:
        """Pair operators with the same ID, and return the rest."""
        by_id = {operator.operator_id: operator for operator in new if operator.operator_id}
        left = []
        for operator in old:
            other = by_id.pop(operator.operator_id, None)
            if other is None:
                left.append(operator)
            else:
                self._pairs.add(operator.node, other.node)
        return left, [operator for operator in new if operator.node not in self._pairs.old_of]

    def _along_edges(self, label: Label) -> None:
        """Pair neighbours of pairs whose label is unique there, and continue with their neighbours."""
        names = self._both(label)
        waiting = list(self._pairs.new_of.items())
        for old, new in waiting:  # it grows
            for downwards in (True, False):
                before = self._alone(_next(self._old, old, downwards), names[0], self._pairs.new_of)
                after = self._alone(_next(self._new, new, downwards), names[1], self._pairs.old_of)
                for pair in [(node, after[name]) for name, node in before.items() if name in after]:
                    self._pairs.add(*pair)
                    waiting.append(pair)

    @staticmethod
    def _alone(nodes: Iterable[int], names: Labels, paired: Mapping[int, int]) -> dict[Hashable, int]:
        """The unpaired nodes whose label is unique, by label."""
        by_name: dict[Hashable, list[int]] = {}
        for node in nodes:
            if node not in paired:
                by_name.setdefault(names[node], []).append(node)
        return {name: named[0] for name, named in by_name.items() if len(named) == 1}

    def _uncross(self) -> None:
        """Two operators whose uids were swapped are matched by their names."""
        before, after = self._old.model.by_node, self._new.model.by_node
        pairs = [(before[old], after[new]) for old, new in self._pairs.new_of.items()]
        crossed = {(one.name, other.name): (one, other) for one, other in pairs if one.name != other.name}
        for (name, other_name), (one, _) in crossed.items():
            back = crossed.get((other_name, name))
            if back is not None and self._type(one) == self._type(back[1]):
                self._pairs.add(one.node, back[1].node)


def _next(graph: Graph, node: int, downwards: bool) -> list[int]:
    edges = graph.out[node] if downwards else graph.into[node]
    return list(dict.fromkeys(edge.target if downwards else edge.source for edge in edges))


def _around(graph: Graph, node: int, known: Mapping[int, int]) -> Hashable:
    """A node with its inputs in order, and its readers."""
    inputs = tuple((known[edge.source], edge.input, edge.side_output) for edge in graph.into[node])
    outputs = sorted((known[edge.target], edge.input, edge.side_output or "") for edge in graph.out[node])
    return known[node], inputs, tuple(outputs)


def _grouped(operators: Iterable[OperatorModel], labels: Labels) -> dict[Hashable, list[OperatorModel]]:
    groups: dict[Hashable, list[OperatorModel]] = {}
    for operator in operators:
        groups.setdefault(labels[operator.node], []).append(operator)
    return groups
