"""The rules, by what they are about; the first digit of their codes says it.

Here: what is wrong with programs, a class each. Not here: how rules are selected, and how findings are suppressed.
"""

from __future__ import annotations

from penstock.lint.rule import Rule
from penstock.lint.rules import (
    chaining,
    connectors,
    event_time,
    functions,
    identity,
    partitioning,
    state,
    suppressions,
    windows,
)

_MODULES = (identity, state, event_time, windows, partitioning, chaining, connectors, functions, suppressions)

GROUPS = {
    "0": "Identity",
    "1": "State",
    "2": "Event time and windows",
    "3": "Partitioning and chaining",
    "4": "Sources, sinks and checkpoints",
    "5": "Functions",
    "9": "Suppressions",
}
"""What rules are about, by the first digit of their codes."""

RULES: dict[str, type[Rule]] = {
    rule.code: rule
    for rule in sorted(
        (
            each
            for module in _MODULES
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Rule) and each.__module__ == module.__name__
        ),
        key=lambda rule: rule.code,
    )
}
"""All rules by code, in order."""
