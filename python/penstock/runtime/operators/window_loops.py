"""The loops of :mod:`.window_batches` as text, which is compiled: one for each combination of assigner, contents,
trigger and way of noting changes, so that a record costs no more than what its windows need."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from penstock.runtime.usercode.failure import OperatorFailure, state_error
from penstock.runtime.windows.functions import Accumulation
from penstock.runtime.windows.triggers import CONTINUE

_FILE = str(Path(__file__).resolve().parents[1] / "<windows>")
"""Where tracebacks say generated code stands: inside the runtime, whose frames users do not see."""

Run = Callable[[list[Any], Any, Any, bool], None]
"""Takes records, their timestamps, the canonical forms of their keys, and whether these are the keys themselves."""


def contents_lines(accumulation: Accumulation | None, tracked: bool) -> tuple[list[str], list[str], dict[str, Any]]:
    """Statements that add a record to the contents of a window: where there are some, and where there are none, with
    what is bound in them. ``tracked`` says that the table is not to note changes by itself."""
    if accumulation is None:
        return ["table[slot].append(value)"], [_put("[value]", tracked)], {"put": dict.__setitem__}
    add = "add(table[slot], value)" if accumulation.element_first is None else "add(value, table[slot])"
    bindings = {
        "add": accumulation.element_first or accumulation.add,
        "first": accumulation.first,
        "wrong": lambda: state_error(accumulation.function, accumulation.state),
        "put": dict.__setitem__,
    }
    again = _tried(_put(add, tracked))
    if accumulation.counts:  # there is nothing to see of the call
        usual = ["held = table[slot]", "if type(held) is int:", f" {_put('held + 1', tracked)}"]
        again = [*usual, "else:", *_deeper(again)]
    return again, _tried(_put("first(value)", tracked)), bindings


def _put(value: str, tracked: bool) -> str:
    return f"put(table, slot, {value})" if tracked else f"table[slot] = {value}"


def _tried(line: str) -> list[str]:
    return ["try:", f" {line}", "except Exception as error:", " raise wrong() from error"]


def panes(
    accumulation: Accumulation | None,
    bindings: dict[str, Any],
    *,
    by_event_time: bool,
    single: bool,
    rest: int,
    tracked: bool,
    asks: bool,
) -> Run:
    """The loop for windows in panes. ``single`` says that a pane has one window, ``rest`` is where the second pane
    begins in each distance of two windows, 0 for nowhere; with ``asks`` the trigger is asked.

    In ``bindings``: ``find(pane)`` gives the windows of a pane, None if ``process`` is to take the record; ``enter``
    makes a window's timers; ``answer`` does what a trigger has said."""
    again, first, bound = contents_lines(accumulation, tracked)
    if not asks:
        first = [*first, "enter(place, slot, slot if canonical else state.current_key)"]
    adds = [*(["changed.add(slot)"] if tracked else []), "if slot in table:", *_deeper(again), "else:", *_deeper(first)]
    if asks:
        adds += [
            "window = place[0]",
            "if context.window is not window:",
            " look_at(window)",
            "result = on_element(value, t, window, context)",
            "if result is not CONTINUE:",
            " answer(result, window)",
            " if not table:",  # it is gone, or will be another one
            "  seen.clear()",
            "  here = nowhere",
            "at = known.get(place[2])",
            "if type(at) is not dict or (slot, window) not in at:",
            " add_timer(place[2], slot, state.current_key, window)",
        ]
    lines = [
        "at = t" if by_event_time else "at = now()",
        "pane = at - (at - offset) % slide",
        *(["if at - pane >= rest:", " pane += rest"] if rest else []),
        "if pane != here:",
        " here = pane",
        " places = seen[pane] if pane in seen else seen.setdefault(pane, find(pane))",
        *([" if places is not None:", "  ((table, changed, place),) = places"] if single else []),
        "if places is None:",
        " process(value, t)",
        " continue",
        *(["if canonical:", " state.current_key = state.slot = slot"] if asks else []),
        *(adds if single else ["for table, changed, place in places:", *_deeper(adds)]),
    ]
    return _function(["seen, here, places = {}, nowhere, None"], lines, {**bound, **bindings, "rest": rest})


def sessions(accumulation: Accumulation | None, bindings: dict[str, Any], *, by_event_time: bool) -> Run:
    """The loop for sessions. In ``bindings``: ``near`` has the session of a key, where there is one alone; ``extend``
    moves its ends; ``process`` takes all other records, and ``remember`` looks what has come of it."""
    again, _, bound = contents_lines(accumulation, False)
    lines = [
        "at = t" if by_event_time else "at = now()",
        "session = near.get(slot)",
        "if session is None or session.end <= limit or not session.least <= at <= session.end:",
        " process(value, t)",
        " remember(slot)",
        " continue",
        "if at > session.last or at < session.start:",
        " extend(session, slot, at)",
        "table = session.table",
        *again,
        *(["touch(table, slot)"] if accumulation is None else []),
    ]
    return _function([f"limit = {'time.watermark + 1' if by_event_time else 'least'}"], lines, {**bound, **bindings})


def _deeper(lines: list[str]) -> list[str]:
    return [f" {line}" for line in lines]


def _function(before: list[str], lines: list[str], bindings: dict[str, Any]) -> Run:
    """The function of these statements in a loop over the records. A record without a timestamp leaves it for
    ``process``, which refuses it."""
    bindings = {**bindings, "CONTINUE": CONTINUE, "Failure": OperatorFailure, "nowhere": object()}
    text = [
        f"def make({', '.join(bindings)}):",
        " def run(values, stamps, slots, canonical):",
        *_deeper(_deeper(before)),
        "  for value, t, slot in zip(values, stamps, slots):",
        "   try:",
        *(f"    {line}" for line in lines),
        "   except Failure:",
        "    raise",
        "   except Exception as error:",
        "    if t is None and timed:",
        "     break",
        "    raise fail(error) from error",
        "  if t is None and timed:",
        "   process(value, t)",
        " return run",
    ]
    namespace: dict[str, Any] = {}
    exec(_compiled("\n".join(text)), namespace)
    return namespace["make"](**bindings)


@lru_cache(maxsize=64)
def _compiled(text: str) -> CodeType:
    return compile(text, _FILE, "exec")
