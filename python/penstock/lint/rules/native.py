"""PS601: functions that native code could run, but for one expression."""

from __future__ import annotations

import os
from collections.abc import Iterator

from penstock.analysis.native_code import PYTHON, verdicts_of
from penstock.lint.rule import Found, program, rule
from penstock.lint.subject import Subject


@rule("PS601", program, default=False)
def not_compiled(subject: Subject) -> Iterator[Found]:
    """A function runs in Python because of one expression.

    Functions that only compute are [compiled](../native.md), and native code runs them on many records at a time. The
    message names the first expression that cannot be, with its line and column. It is a hint: results are the same
    either way, and only a function that takes much of the time of a job is worth a change. Functions whose operators
    always call them in Python are not reported, nor are sinks, which mostly have effects; `penstock explain --native`
    shows all.

        - seen = []
        - orders.map(lambda order: seen.append(order[0]) or order).print()
        + orders.map(lambda order: (order[0].upper(), *order[1:])).print()
    """
    for operator in verdicts_of(subject.pipeline) if subject.pipeline.settings.native_plane else ():
        for verdict in operator.functions:
            if verdict.verdict == PYTHON and verdict.role != "sink" and verdict.line and verdict.file is not None:
                place = f"line {verdict.line} of {os.path.basename(verdict.file)}, column {verdict.column}"
                what = "The key selector" if verdict.role == "key" else "The function"
                yield Found(
                    f"{what} {verdict.function} of {operator.name!r} runs in Python: {verdict.reason} ({place}). Write "
                    "that otherwise to have it compiled, if the function takes much of the time.",
                    operator.node,
                )
