"""Finds the origin of OperatorIDs, which cannot be inverted: in a program, a savepoint, a list of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from penstock.flink.plans import RestorePlan
from penstock.plan import operator_id


@dataclass(frozen=True)
class Origin:
    """The origin of an ID."""

    by: str
    description: str
    uid: str | None
    operator: str | None
    where: str


@dataclass
class Search:
    """A search for the origins of IDs."""

    wanted: tuple[str, ...]
    origins: dict[str, list[Origin]] = field(init=False)

    def __post_init__(self) -> None:
        self.origins = {wanted_id: [] for wanted_id in self.wanted}

    def in_program(self, plan: RestorePlan, where: str) -> None:
        """Search the operators of a program. O(operators)."""
        for vertex in plan.vertices:
            for operator in vertex.operators:
                uid, whose = operator.uid, f"of operator {operator.name!r}"
                by, text = ("position", "its position") if uid is None else ("uid", f"uid {uid!r}")
                self._note(operator.generated, Origin(by, f"{text} {whose}", uid, operator.name, where))
                if operator.pinned is not None:
                    self._note(operator.pinned, Origin("uid hash", f"uid hash {whose}", uid, operator.name, where))

    def in_words(self, words: Iterable[str], where: str) -> None:
        """Search words that may have been uids. One hash each."""
        for line in words:
            word = line.rstrip("\r\n")
            for text in dict.fromkeys((word, word.strip())):
                if text:
                    self._note(operator_id(text), Origin("word", f"uid {text!r}", text, None, where))

    def in_operators(self, operators: Iterable[tuple[str, str | None, str | None]], where: str) -> None:
        """Search operators of a savepoint, by ID, name and uid. O(operators)."""
        for known_id, name, uid in operators:
            text = "in the savepoint, without a uid" if uid is None else f"uid {uid!r} in the savepoint"
            whose = "" if name is None else f", operator {name!r}"
            self._note(known_id, Origin("savepoint", f"{text}{whose}", uid, name, where))

    def _note(self, known_id: str, origin: Origin) -> None:
        if known_id in self.origins:
            self.origins[known_id].append(origin)

    def lines(self) -> Iterator[str]:
        """A line for each origin, and for each ID that was not found."""
        for wanted_id, origins in self.origins.items():
            for origin in origins:
                yield f"{wanted_id}  {origin.description}  ({origin.where})"
            if not origins:
                yield f"{wanted_id}  not found"
