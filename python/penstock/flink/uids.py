"""Finds the origin of OperatorIDs: a uid or an operator of a program, a savepoint, a word list.

An ID cannot be inverted. But its uid is usually known somewhere: in the earlier program, in a savepoint (from version 5
on), or in the words of a source tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from penstock.flink.plans import RestorePlan
from penstock.flink.savepoint import FlinkSavepoint
from penstock.plan import operator_id


@dataclass(frozen=True)
class Origin:
    """The origin of an ID."""

    by: str
    said: str
    uid: str | None
    operator: str | None
    where: str


@dataclass
class Search:
    """A search for the origins of IDs."""

    wanted: tuple[str, ...]
    found: dict[str, list[Origin]] = field(init=False)

    def __post_init__(self) -> None:
        self.found = {wanted_id: [] for wanted_id in self.wanted}

    def in_program(self, plan: RestorePlan, where: str) -> None:
        """Search the operators of a program. O(operators)."""
        for vertex in plan.vertices:
            for operator in vertex.operators:
                origin = "position" if operator.uid is None else "uid"
                origin_text = "its position" if operator.uid is None else f"uid {operator.uid!r}"
                self._note(operator.generated, origin, f"{origin_text} of operator", operator.uid, operator.name, where)
                if operator.pinned is not None:
                    self._note(operator.pinned, "uid hash", "uid hash of operator", operator.uid, operator.name, where)

    def in_words(self, words: Iterable[str], where: str) -> None:
        """Search words that may have been uids. One hash each."""
        for line in words:
            word = line.rstrip("\r\n")
            for text in dict.fromkeys((word, word.strip())):
                if text:
                    self._note(operator_id(text), "word", f"uid {text!r}", text, None, where)

    def in_savepoint(self, savepoint: FlinkSavepoint, where: str) -> None:
        """Search the operators of a Flink savepoint. O(operators)."""
        for state in savepoint.operators:
            text = "in the savepoint, without a uid" if state.uid is None else f"uid {state.uid!r} in the savepoint"
            self._note(state.operator_id, "savepoint", text, state.uid, state.name, where)

    def in_operators(self, operators: Mapping[str, tuple[str, str | None]], where: str) -> None:
        """Search operators with known ID, name and uid, such as those of a Penstock savepoint."""
        for known_id, (name, uid) in operators.items():
            text = "in the savepoint, without a uid" if uid is None else f"uid {uid!r} in the savepoint"
            self._note(known_id, "savepoint", text, uid, name, where)

    def _note(self, known_id: str, by: str, text: str, uid: str | None, operator: str | None, where: str) -> None:
        origins = self.found.get(known_id)
        if origins is not None:
            whose = (
                ""
                if operator is None
                else f" {operator!r}"
                if text.endswith("operator")
                else f", operator {operator!r}"
            )
            origins.append(Origin(by, f"{text}{whose}", uid, operator, where))

    def lines(self) -> Iterator[str]:
        """A line for each origin, and for each ID that was not found."""
        for wanted_id, origins in self.found.items():
            for origin in origins:
                yield f"{wanted_id}  {origin.said}  ({origin.where})"
            if not origins:
                yield f"{wanted_id}  not found"
