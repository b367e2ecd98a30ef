"""The rules, by what they are about; the first digit of their codes says it.

Here: what is wrong with programs, a function each. Not here: how rules are selected, and how findings are suppressed.
"""

from __future__ import annotations

from penstock.lint.rule import Rule
from penstock.lint.rules import (
    attributes,
    captures,
    connectors,
    event_time,
    functions,
    handles,
    identity,
    native,
    partitioning,
    results,
    state,
    suppressions,
    timers,
    windows,
)

_MODULES = (
    *(identity, state, attributes, handles, event_time, timers, windows, partitioning),
    *(connectors, functions, captures, results, native, suppressions),
)

GROUPS = {
    "0": "Identity",
    "1": "State",
    "2": "Event time and windows",
    "3": "Partitioning and chaining",
    "4": "Sources, sinks and checkpoints",
    "5": "Functions",
    "6": "Native code",
    "9": "Suppressions",
}
"""The subjects of rules, by the first digit of their codes."""

_ALL = [value for module in _MODULES for value in vars(module).values() if isinstance(value, Rule)]
RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_ALL, key=lambda rule: rule.code)}
"""All rules by code, in order."""


def table() -> str:
    """All rules by group as Markdown, with links to their pages."""
    lines: list[str] = []
    for digit, title in GROUPS.items():
        lines += [f"### {title}", "", "| Code | Rule | Default |", "| --- | --- | --- |"]
        for code, rule in RULES.items():
            if code[2] == digit:
                lines.append(f"| [{code}]({code}.md) | {rule.summary()} | {'yes' if rule.default else 'no'} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
