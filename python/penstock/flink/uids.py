"""From OperatorIDs back to what they were made of: a uid or an operator of a program, a savepoint, a word list.

An ID cannot be computed back. But the uid is usually somewhere: in the program of before, in a savepoint (from its
fifth version on), or in the words of a source tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from penstock.flink.plans import RestorePlan
from penstock.flink.savepoint import FlinkSavepoint
from penstock.plan import operator_id


@dataclass(frozen=True)
class Origin:
    """What an ID is.

    Attributes:
        by: ``uid``, ``position``, ``uid hash``, ``word`` or ``savepoint``.
        said: a phrase for people.
        uid: the uid that makes it; None where there is none, or it is not known.
        operator: the name of the operator, or None.
        where: it was found in.
    """

    by: str
    said: str
    uid: str | None
    operator: str | None
    where: str


@dataclass
class Search:
    """A search for what IDs were made of.

    Args:
        wanted: the IDs, 32 hex digits each, in lower case.

    Attributes:
        found: what each is, as often as it was found.
    """

    wanted: tuple[str, ...]
    found: dict[str, list[Origin]] = field(init=False)

    def __post_init__(self) -> None:
        self.found = {each: [] for each in self.wanted}

    def in_program(self, plan: RestorePlan, where: str) -> None:
        """Look among the operators of a program. O(operators).

        Args:
            plan: the program.
            where: to call it.
        """
        for vertex in plan.vertices:
            for operator in vertex.operators:
                origin = "position" if operator.uid is None else "uid"
                made = "its position" if operator.uid is None else f"uid {operator.uid!r}"
                self._note(operator.generated, origin, f"{made} of operator", operator.uid, operator.name, where)
                if operator.pinned is not None:
                    self._note(operator.pinned, "uid hash", "uid hash of operator", operator.uid, operator.name, where)

    def in_words(self, words: Iterable[str], where: str) -> None:
        """Look among uids that may have been given. A hash for each.

        Args:
            words: one uid each; blanks around it may be part of it or not.
            where: to call them.
        """
        for line in words:
            word = line.rstrip("\r\n")
            for text in dict.fromkeys((word, word.strip())):
                if text:
                    self._note(operator_id(text), "word", f"uid {text!r}", text, None, where)

    def in_savepoint(self, savepoint: FlinkSavepoint, where: str) -> None:
        """Look among the operators of a savepoint of Flink. O(operators).

        Args:
            savepoint: of which version ever; before the fifth there are no names in it.
            where: to call it.
        """
        for state in savepoint.operators:
            made = "in the savepoint, without a uid" if state.uid is None else f"uid {state.uid!r} in the savepoint"
            self._note(state.operator_id, "savepoint", made, state.uid, state.name, where)

    def in_operators(self, operators: Mapping[str, tuple[str, str | None]], where: str) -> None:
        """Look among operators of which ID, name and uid are known, such as those of a savepoint of ours.

        Args:
            operators: name and uid by ID.
            where: to call them.
        """
        for each, (name, uid) in operators.items():
            made = "in the savepoint, without a uid" if uid is None else f"uid {uid!r} in the savepoint"
            self._note(each, "savepoint", made, uid, name, where)

    def _note(self, each: str, by: str, said: str, uid: str | None, operator: str | None, where: str) -> None:
        found = self.found.get(each)
        if found is not None:
            whose = (
                ""
                if operator is None
                else f" {operator!r}"
                if said.endswith("operator")
                else f", operator {operator!r}"
            )
            found.append(Origin(by, f"{said}{whose}", uid, operator, where))

    def lines(self) -> Iterator[str]:
        """A line for each thing that was found, and for each ID that was not."""
        for each, origins in self.found.items():
            for origin in origins:
                yield f"{each}  {origin.said}  ({origin.where})"
            if not origins:
                yield f"{each}  not found"
