"""What a rule is: a class with a code, whose docstring is its page, and that finds things in a subject.

A docstring has a first sentence, which says what is wrong, then why, and two programs under ``Bad::`` and ``Good::``.
The pages of the documentation are made of them, and the tests run both programs: the first must be found, the second
must not.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from penstock.lint.subject import Subject

_CODE = re.compile(r"PS\d{3}")
_SECTION = re.compile(r"^(Bad|Good)::\n\n((?:    .*\n|\n)+)", re.MULTILINE)


class Found(NamedTuple):
    """What a rule finds.

    Attributes:
        message: what it is about, what follows from it, and what to do.
        node: id of the StreamNode that is meant; None for the program as a whole.
        call: of what is no operator: the call, as messages name it with its place.
    """

    message: str
    node: int | None = None
    call: str = ""


class Rule(ABC):
    """Base of the rules. A subclass has a docstring as the module says, a code, and :meth:`find`.

    Attributes:
        code: ``PS`` and three digits, of which the first is the group's. It never changes, and is never used again.
        default: whether it counts where nobody has selected rules.
        found_by: what has to be known besides the program, for the page; empty where nothing has.
    """

    code: ClassVar[str]
    default: ClassVar[bool] = True
    found_by: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        assert _CODE.fullmatch(cls.code), cls.code
        assert cls.__doc__, cls.code

    @classmethod
    def name(cls) -> str:
        """The name of the rule: that of its class, in small letters with hyphens."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def summary(cls) -> str:
        """What is wrong, in one sentence."""
        return inspect.getdoc(cls).partition("\n\n")[0].replace("\n", " ")  # type: ignore[union-attr]

    @classmethod
    def why(cls) -> str:
        """Why that is so, and what to do: Markdown."""
        text = _SECTION.sub("", f"{inspect.getdoc(cls)}\n")
        return text.partition("\n\n")[2].strip()

    @classmethod
    def examples(cls) -> dict[str, str]:
        """The programs that are found, ``Bad``, and not found, ``Good``."""
        sections = _SECTION.findall(f"{inspect.getdoc(cls)}\n")
        return {name: inspect.cleandoc(f"\n{text}").strip() for name, text in sections}

    @abstractmethod
    def find(self, subject: Subject) -> Iterator[Found]:
        """What there is to find, in any order. O(operators + edges), besides looking at functions.

        Args:
            subject: the program, with what is known of it.
        """
