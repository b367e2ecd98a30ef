"""A comparison as text: for a terminal, for a pull request, for annotations of GitHub, as JSON.

Names come from strangers: markup and control codes in them are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from penstock.analysis.model import Site
from penstock.compare import states
from penstock.compare.advice import advice
from penstock.compare.causes import Cause, placed
from penstock.compare.difference import (
    ADDED,
    ALLOWED,
    BLOCKED,
    KEPT,
    MOVED,
    REMOVED,
    Difference,
    OperatorDiff,
    Problem,
    by_cause,
)
from penstock.display.text import annotation

_LONGEST = 200  # characters of a name that are shown
_MARKUP = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#~&"})


def shown(text: str, longest: int = _LONGEST) -> str:
    """A text of a stranger for a terminal: one line, without control codes, cut."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in cut)


def place(site: Site | None) -> str:
    """A place in a program, relative to the working folder if it is below it; "" for none."""
    return "" if site is None else f"{_relative(site.file)}:{site.line}"


def _relative(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_absolute() and path.is_relative_to(here) else file


@dataclass(frozen=True)
class Fix:
    """A line that keeps state of an operator: the call, what it replaces, and the call that it follows, if known."""

    operator: str
    text: str
    site: Site | None

    @property
    def line(self) -> str:
        """With the place."""
        return f"{place(self.site) or shown(self.operator)}  {self.text}"


def as_text(difference: Difference, fixes: Sequence[Fix] = ()) -> str:
    """For a terminal."""
    return "\n".join(_lines(difference, fixes)) + "\n"


def _lines(difference: Difference, fixes: Sequence[Fix]) -> Iterator[str]:
    counts = {change: sum(operator.change == change for operator in difference.operators) for change in _SIGNS}
    yield "operators: " + ", ".join(f"{count} {change}" for change, count in counts.items())
    for title, group in _groups(difference):
        yield from ("", title, *(line for operator in group for line in _of_operator(operator)))
    if difference.problems:
        yield from ("", "state", *problem_lines(difference))
    if difference.unknown:
        yield from ("", "unknown until it runs")
        yield from (f"  {shown(problem.text, 1000)}{in_brackets(problem.site)}" for problem in difference.unknown)
    if fixes:
        yield from ("", "to keep it", *(f"  {fix.line}" for fix in fixes))
    yield ""
    yield verdict(difference)


def problem_lines(difference: Difference) -> Iterator[str]:
    """The problems as lines: each edit that moves operators once, with these operators, and advice."""
    for cause, problems in by_cause(difference.problems):
        indent = "  "
        if cause is not None:
            yield f"  {shown(cause.text, 1000)}{in_brackets(cause.site)}"
            indent = "    "
        for problem in problems:
            yield f"{indent}{_severity(problem)}: {shown(problem.text, 1000)}{in_brackets(problem.site)}"
            yield from (f"{indent}  {shown(todo, 1000)}" for todo in _todo(difference, problem))


def in_brackets(site: Site | None) -> str:
    """A place in parentheses, to follow a text; "" for none."""
    return "" if site is None else f" ({place(site)})"


_SIGNS = MappingProxyType({KEPT: "=", MOVED: "~", ADDED: "+", REMOVED: "-"})


def _groups(difference: Difference) -> Iterator[tuple[str, list[OperatorDiff]]]:
    """The operators that differ: the moved ones by cause, then the others."""
    by_cause: dict[tuple[object, ...], list[OperatorDiff]] = {}
    for operator in difference.operators:
        if operator.change == MOVED and operator.cause is not None:
            by_cause.setdefault((operator.cause.subject, operator.cause.rule, operator.cause.site), []).append(operator)
    for group in by_cause.values():
        cause = group[-1].cause
        yield f"moved: {shown('' if cause is None else cause.text, 1000)}", group
    for change, title in ((ADDED, "added"), (REMOVED, "removed"), (KEPT, "changed, with the ID that they had")):
        group = [operator for operator in difference.operators if operator.change == change and operator.differs]
        if group:
            yield title, group


def _of_operator(operator: OperatorDiff) -> Iterator[str]:
    ids = [one.operator_id for one in (operator.old, operator.new) if one is not None]
    where = "" if operator.new is None else place(operator.new.site)
    state = "" if operator.state == states.NONE else f"  state {operator.state}"
    arrow = " -> ".join(dict.fromkeys(ids))
    yield f"  {_SIGNS[operator.change]} {shown(operator.name)}  {arrow}{state}" + (f"  ({where})" if where else "")
    if operator.takes:
        yield f"      takes the state of {shown(operator.takes)}"
    yield from (f"      {shown(change)}" for change in (*operator.changes, *operator.facts))
    for state_fate in operator.states:
        if state_fate.fate != KEPT or state_fate.text:
            text = f": {state_fate.text}" if state_fate.text else ""
            yield f"      state {shown(state_fate.name)} {state_fate.fate}{shown(text, 500)}"


def _todo(difference: Difference, problem: Problem) -> list[str]:
    todo = advice(difference, problem)
    return [todo] if todo and problem.severity != ALLOWED else []


def _severity(problem: Problem) -> str:
    return {BLOCKED: "blocked", ALLOWED: "lost, as allowed"}.get(problem.severity, problem.severity)


def verdict(difference: Difference) -> str:
    """One sentence: whether the new program can resume from the old one's state."""
    lost = sum(problem.severity != ALLOWED for problem in difference.problems)
    unknown = len({problem.operator for problem in difference.unknown})
    if lost:
        return f"State of {_number(lost)} would be lost or could not be restored."
    if difference.problems:
        return f"State of {_number(len(difference.problems))} would be lost, as allowed."
    if unknown:
        return f"No state is known to be lost; for state of {_number(unknown)} that is unknown until it runs."
    return "No state is lost."


def _number(count: int) -> str:
    return f"{count} operator{'s' * (count != 1)}"


def as_json(difference: Difference, fixes: Sequence[Fix] = ()) -> str:
    """One JSON document."""
    document = difference.to_dict()
    for plain, problem in zip(document["problems"], difference.problems, strict=True):
        plain["advice"] = advice(difference, problem) or None
    document["fixes"] = [{"operator": fix.operator, "text": fix.text, **placed(fix.site)} for fix in fixes]
    return json.dumps(document, indent=1) + "\n"


def as_markdown(difference: Difference, fixes: Sequence[Fix] = ()) -> str:
    """For a pull request."""
    return "\n".join(_markdown(difference, fixes)) + "\n"


def _markdown(difference: Difference, fixes: Sequence[Fix]) -> Iterator[str]:
    sign = "❌" if not difference.passes else "✅" if difference.safe else "❔"
    yield f"### {sign} {verdict(difference)}"
    for cause, problems in by_cause(difference.problems):
        indent = ""
        if cause is not None:
            yield f"- {marked(cause.text, 1000)}" + _code(place(cause.site))
            indent = "  "
        for problem in problems:
            yield f"{indent}- **{_severity(problem)}**: {marked(problem.text, 1000)}" + _code(place(problem.site))
            yield from (f"{indent}  - {marked(todo, 1000)}" for todo in _todo(difference, problem))
    for problem in difference.unknown:
        yield f"- **unknown until it runs**: {marked(problem.text, 1000)}" + _code(place(problem.site))
    if fixes:
        yield from ("", "To keep it:", "")
        yield from (f"- `{fix.line.replace('`', '')}`" for fix in fixes)
    differing = [operator for operator in difference.operators if operator.differs]
    kept = len(difference.operators) - len(differing)
    yield ""
    if not differing:
        yield f"All {kept} operators are as they were."
        return
    yield from ("| | Operator | ID | State | Why |", "| --- | --- | --- | --- | --- |")
    named = {(cause.subject, cause.rule, cause.site) for cause, _ in by_cause(difference.problems) if cause is not None}
    for operator in differing:
        ids = " → ".join(f"`{one.operator_id[:8]}`" for one in (operator.old, operator.new) if one is not None)
        notes = [*operator.changes, *operator.facts]
        if operator.cause is not None:
            key = (operator.cause.subject, operator.cause.rule, operator.cause.site)
            notes.insert(0, f"edit at {operator.cause.subject}" if key in named else operator.cause.text)
            named.add(key)
        if operator.takes:
            notes.append(f"takes the state of {operator.takes}")
        why = "; ".join(marked(one, 1000) for one in notes)
        yield f"| {operator.change} | {marked(operator.name)} | {ids} | {operator.state} | {why} |"
    yield ""
    yield f"{kept} operators are as they were."


def marked(text: str, longest: int = _LONGEST) -> str:
    """A text of a stranger for Markdown."""
    return shown(text, longest).translate(_MARKUP)


def _code(text: str) -> str:
    return f" (`{text.replace('`', '')}`)" if text else ""


def as_github(difference: Difference, fixes: Sequence[Fix] = ()) -> str:
    """Workflow commands, which GitHub shows beside the lines of the program: one for each edit, at the edited line if
    it is known."""
    groups = by_cause(difference.problems)
    commands: list[str] = []
    for cause, problems in groups:
        places = {problem.site for problem in problems if problem.site is not None}
        related = fixes if len(groups) == 1 else [fix for fix in fixes if fix.site in places]
        commands.append(_annotated(difference, cause, problems, related))
    commands += [
        annotation("notice", problem.kind, problem.text, *_place(problem.site)) for problem in difference.unknown
    ]
    return "".join(f"{line}\n" for line in (*commands, verdict(difference)))


def _annotated(difference: Difference, cause: Cause | None, problems: Sequence[Problem], fixes: Sequence[Fix]) -> str:
    lines = [] if cause is None else [shown(cause.text, 1000)]
    for problem in problems:
        lines.append(f"{_severity(problem)}: {shown(problem.text, 1000)}")
        lines += [shown(todo, 1000) for todo in _todo(difference, problem)]
    lines += [f"to keep it: {fix.line}" for fix in fixes]
    level = "warning" if all(problem.severity == ALLOWED for problem in problems) else "error"
    site = problems[0].site if cause is None or cause.site is None else cause.site
    return annotation(level, problems[0].kind, "\n".join(lines), *_place(site))


def _place(site: Site | None) -> tuple[str | None, int | None]:
    return (None, None) if site is None else (_relative(site.file), site.line)


FORMATS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {"text": as_text, "json": as_json, "markdown": as_markdown, "github": as_github}
)
"""The functions that write a comparison and the lines that keep state, by format."""
