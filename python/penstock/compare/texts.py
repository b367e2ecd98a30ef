"""A comparison as text: for a terminal, for a pull request, for the annotations of GitHub, as JSON.

Names come from programs and savepoints of anybody: what could be taken for markup or for control codes is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from penstock.analysis.model import Site
from penstock.compare import states
from penstock.compare.difference import ADDED, ALLOWED, BLOCKED, KEPT, MOVED, REMOVED, Difference, OperatorDiff, Problem

_LONGEST = 200
"""Characters of a name that are shown."""
_MARKUP = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#~&"})


def shown(text: str, longest: int = _LONGEST) -> str:
    """A text of anybody's for a terminal: one line, without control codes, not endless.

    Args:
        text: any.
        longest: how many characters of it are shown.
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)


def place(site: Site | None) -> str:
    """A place in a program, relative to the working folder where it is below it; "" for none."""
    return "" if site is None else f"{_relative(site.file)}:{site.line}"


def _relative(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_absolute() and path.is_relative_to(here) else file


def as_text(difference: Difference) -> str:
    """For a terminal."""
    return "\n".join(_lines(difference)) + "\n"


def _lines(difference: Difference) -> Iterator[str]:
    counts = {change: sum(each.change == change for each in difference.operators) for change in _SIGNS}
    yield "operators: " + ", ".join(f"{count} {change}" for change, count in counts.items())
    for title, group in _groups(difference):
        yield ""
        yield title
        yield from (line for each in group for line in _of_operator(each))
    if difference.problems:
        yield ""
        yield "state"
        yield from (f"  {_severity(problem)}: {_told(problem)}" for problem in difference.problems)
    yield ""
    yield verdict(difference)


_SIGNS = MappingProxyType({KEPT: "=", MOVED: "~", ADDED: "+", REMOVED: "-"})


def _groups(difference: Difference) -> Iterator[tuple[str, list[OperatorDiff]]]:
    """The operators of which there is something to say: the moved ones by cause, then the others."""
    by_cause: dict[tuple[object, ...], list[OperatorDiff]] = {}
    for each in difference.operators:
        if each.change == MOVED and each.cause is not None:
            by_cause.setdefault((each.cause.subject, each.cause.rule, each.cause.site), []).append(each)
    for group in by_cause.values():
        cause = group[-1].cause
        yield f"moved: {shown('' if cause is None else cause.text, 1000)}", group
    for change, title in ((ADDED, "added"), (REMOVED, "removed"), (KEPT, "changed, with the ID that they had")):
        group = [each for each in difference.operators if each.change == change and each.differs]
        if group:
            yield title, group


def _of_operator(each: OperatorDiff) -> Iterator[str]:
    ids = [one.operator_id for one in (each.old, each.new) if one is not None]
    where = "" if each.new is None else place(each.new.site)
    state = "" if each.state == states.NONE else f"  state {each.state}"
    arrow = " -> ".join(dict.fromkeys(ids))
    yield f"  {_SIGNS[each.change]} {shown(each.name)}  {arrow}{state}" + (f"  ({where})" if where else "")
    if each.takes:
        yield f"      takes the state of {shown(each.takes)}"
    yield from (f"      {shown(change)}" for change in each.changes)
    for state_fate in each.states:
        if state_fate.fate != KEPT or state_fate.text:
            text = f": {state_fate.text}" if state_fate.text else ""
            yield f"      state {shown(state_fate.name)} {state_fate.fate}{shown(text, 500)}"


def _severity(problem: Problem) -> str:
    return {BLOCKED: "blocked", ALLOWED: "lost, as allowed"}.get(problem.severity, problem.severity)


def _told(problem: Problem) -> str:
    where = place(problem.site)
    return shown(problem.text, 1000) + (f" ({where})" if where else "")


def verdict(difference: Difference) -> str:
    """One sentence: whether the new program can go on from the old one's state."""
    if difference.safe:
        given_up = sum(problem.severity == ALLOWED for problem in difference.problems)
        return "No state is lost." if not given_up else f"{_number(given_up)} would be lost, as allowed."
    lost = sum(problem.severity != ALLOWED for problem in difference.problems)
    return f"{_number(lost)} would be lost or could not be restored."


def _number(count: int) -> str:
    return f"State of {count} operator{'s' * (count != 1)}" if count else "No state"


def as_json(difference: Difference) -> str:
    """One JSON document."""
    return json.dumps(difference.to_dict(), indent=1) + "\n"


def as_markdown(difference: Difference) -> str:
    """For a pull request."""
    return "\n".join(_markdown(difference)) + "\n"


def _markdown(difference: Difference) -> Iterator[str]:
    yield f"### {'✅' if difference.safe else '❌'} {verdict(difference)}"
    for problem in difference.problems:
        yield f"- **{_severity(problem)}**: {marked(problem.text, 1000)}" + _code(place(problem.site))
    differing = [each for each in difference.operators if each.differs]
    kept = len(difference.operators) - len(differing)
    yield ""
    if not differing:
        yield f"All {kept} operators are as they were."
        return
    yield "| | Operator | ID | State | Why |"
    yield "| --- | --- | --- | --- | --- |"
    for each in differing:
        ids = " → ".join(f"`{one.operator_id[:8]}`" for one in (each.old, each.new) if one is not None)
        said = [*([each.cause.text] if each.cause else []), *each.changes]
        if each.takes:
            said.append(f"takes the state of {each.takes}")
        why = "; ".join(marked(one, 1000) for one in said)
        yield f"| {each.change} | {marked(each.name)} | {ids} | {each.state} | {why} |"
    yield ""
    yield f"{kept} operators are as they were."


def marked(text: str, longest: int = _LONGEST) -> str:
    """A text of anybody's for Markdown."""
    return shown(text, longest).translate(_MARKUP)


def _code(text: str) -> str:
    return f" (`{text.replace('`', '')}`)" if text else ""


def as_github(difference: Difference) -> str:
    """Workflow commands, which GitHub shows beside the lines of the program."""
    levels = {ALLOWED: "warning"}
    problems = (annotation(levels.get(p.severity, "error"), p.kind, p.text, p.site) for p in difference.problems)
    return "".join(f"{line}\n" for line in (*problems, verdict(difference)))


def annotation(level: str, title: str, text: str, site: Site | None = None) -> str:
    """A workflow command of GitHub.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        title: of it.
        text: in full.
        site: where it belongs.
    """
    where = {} if site is None else {"file": _relative(site.file), "line": str(site.line)}
    said = ",".join(f"{key}={_property(value)}" for key, value in {**where, "title": title}.items())
    return f"::{level} {said}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Difference], str]] = MappingProxyType(
    {"text": as_text, "json": as_json, "markdown": as_markdown, "github": as_github}
)
"""What makes which text."""
