"""Rules: functions with codes, whose docstrings are their pages.

The docstring says in its first sentence what is wrong, then why, and ends with an indented program. Lines with ``-``
are those of the bad program only, lines with ``+`` those of the good one. The pages of the documentation are
made of docstrings, and the tests run both programs: the rule must find the first and must not find the second.

A rule looks at one thing at a time, such as an operator, a sink or a function, and returns a message if something is
wrong. Its *scope* lists these things.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from penstock.lint.subject import Subject
from penstock.plan import StreamNode

_EXAMPLE = re.compile(r"\n((?:    .*\n|\n)+)\Z")


class Found(NamedTuple):
    """A message of a rule, with its node."""

    message: str  # the problem, its effect, and what to do
    node: int | None = None  # id of the operator; None for the program as a whole
    call: str = ""  # the call that is meant, as messages name it with its place, where it makes no operator


Listed = Iterator[tuple[int | None, tuple[Any, ...]]]
"""Nodes, None for the program as a whole, with the arguments of a check."""
Scope = Callable[[Subject], Listed]  # lists what a rule looks at
Message = str | Literal[False]  # what is wrong; false, or an empty text, for nothing
Check = Callable[..., "Message | Iterable[str | Found] | None"]  # looks at one thing; returns a message, or several


@dataclass(frozen=True)
class Rule:
    """A rule."""

    code: str  # ``PS`` and three digits; the first is the group's. It never changes, and is never used again
    check: Check
    scope: Scope
    default: bool = True  # whether it is selected by default
    needs_uid: bool = False  # whether a uid is missing, so that ``--fix`` can write it
    found_by: str = ""  # what it needs besides the program

    @property
    def _doc(self) -> str:
        return inspect.getdoc(self.check) or ""

    def name(self) -> str:
        """The name of the rule, such as ``duplicate-uid``."""
        return self.check.__name__.replace("_", "-")

    def summary(self) -> str:
        """What is wrong, in one sentence."""
        return self._doc.partition("\n\n")[0].replace("\n", " ")

    def why(self) -> str:
        """Why it is wrong, and what to do: Markdown."""
        return _EXAMPLE.sub("", f"{self._doc}\n").partition("\n\n")[2].strip()

    def examples(self) -> dict[str, str]:
        """The programs that the rule finds, ``Bad``, and does not find, ``Good``."""
        match = _EXAMPLE.search(f"{self._doc}\n")
        lines = [] if match is None else [line[4:] for line in match[1].strip("\n").split("\n")]
        sides = {"Bad": "+", "Good": "-"}
        return {side: "\n".join(line[2:] for line in lines if line[:1] != other) for side, other in sides.items()}

    def find(self, subject: Subject) -> Iterator[Found]:
        """The findings of the rule in a program, in any order. O(operators + edges), without the look at functions."""
        for node, arguments in self.scope(subject):
            answer = self.check(subject, *arguments)
            for result in [answer] if isinstance(answer, str) else answer or ():
                if result:
                    yield result if isinstance(result, Found) else Found(result, node)

    def page(self) -> str:
        """The page of the rule as Markdown: what is wrong, why, two programs, and how to suppress a finding."""
        examples = self.examples()
        selected = "Selected by default." if self.default else f"Off by default: `--extend-select {self.code}`."
        needs = f" Needs {self.found_by}." if self.found_by else ""
        fix = "`penstock lint --fix` writes one, made of the operator's name; see\n[Fix](index.md#fix).\n\n"
        return (
            f"# {self.code} {self.name()}\n\n**{self.summary()}** {selected}{needs}\n\n{self.why()}\n\n"
            f"{fix * self.needs_uid}"
            "Found (the streams are those of [all examples](index.md#the-examples)):\n\n"
            f"```py\n{examples['Bad']}\n```\n\n"
            f"Not found:\n\n```py\n{examples['Good']}\n```\n\n"
            f"To suppress it in one place, end the line of the call with `# penstock: ignore[{self.code}]`; see\n"
            "[Lints](index.md#suppress).\n"
        )


def program(subject: Subject) -> Listed:
    """The program as a whole."""
    yield None, ()


def nodes(subject: Subject) -> Listed:
    """Each node."""
    return ((node.id, (node,)) for node in subject.nodes.values())


def operators(*kinds: type[Any]) -> Scope:
    """The nodes whose operators are of some kinds, with these."""

    return lambda subject: ((node.id, (node, operator)) for node, operator in subject.of(kinds))


def sinks(subject: Subject) -> Listed:
    """Each sink, with its function."""
    return ((node.id, (node, function)) for node, function in subject.sinks())


def uses(subject: Subject) -> Listed:
    """Each function that gets records, with its node and what its code uses."""
    return ((used[0].id, used) for used in subject.uses)


def bodies(subject: Subject) -> Listed:
    """Each function whose source is known."""
    return ((body.node.id, (body,)) for body in subject.bodies)


def keyed_bodies(subject: Subject) -> Listed:
    """Each function of a keyed stream whose source is known."""
    return (item for item in bodies(subject) if subject.keyed(item[1][0].node))


def methods(*kinds: str) -> Scope:
    """The methods that operators call with records, of some kinds (:data:`~penstock.lint.bodies.HOOKS`)."""

    return lambda subject: ((body.node.id, (body, source)) for body in subject.bodies for source in body.called(*kinds))


def resumable(scope: Scope) -> Scope:
    """A scope, of programs only that may be started again from their state."""
    return lambda subject: scope(subject) if subject.resumable else iter(())


def repeated(values: Callable[[Subject], Iterable[tuple[StreamNode, Any]]]) -> Scope:
    """The nodes that share a value with an earlier one, with the value and that node; None is not a value."""

    def scope(subject: Subject) -> Listed:
        first: dict[Any, StreamNode] = {}
        for node, value in values(subject):
            other = node if value is None else first.setdefault(value, node)
            if other is not node:
                yield node.id, (node, value, other)

    return scope


def rule(
    code: str, scope: Scope = nodes, *, default: bool = True, needs_uid: bool = False, found_by: str = ""
) -> Callable[[Check], Rule]:
    """Makes a rule of a function."""
    return lambda check: Rule(code, check, scope, default, needs_uid, found_by)
