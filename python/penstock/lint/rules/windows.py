"""PS210 to PS215, and PS219: windows that never fire, or not as they are meant to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from penstock.lint.rule import Message, operators, rule
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows, SlidingEventTimeWindows, SlidingProcessingTimeWindows
from penstock.runtime.windows.triggers import EventTimeTrigger, NeverTrigger, ProcessingTimeTrigger, PurgingTrigger

_MANY_WINDOWS = 100  # for one record
_SECOND, _LONG_WINDOW = 1_000, 60_000  # milliseconds
_WINDOWS = operators(WindowOperator)


def _innermost(trigger: Any) -> Any:
    """The trigger inside of purging ones."""
    while isinstance(trigger, PurgingTrigger):
        trigger = cast("Any", trigger).nested_trigger
    return trigger


@rule("PS210", _WINDOWS)
def global_windows_without_trigger(subject: Subject, node: StreamNode, operator: WindowOperator) -> Message:
    """Global windows have no trigger, so they never fire.

    Each key has one global window, which has no end. Without a trigger all records are kept, and nothing comes out.

        - orders.key_by(lambda order: order[0]).window(GlobalWindows.create()).sum(1).print()
        + windows = orders.key_by(lambda order: order[0]).window(GlobalWindows.create())
        + windows.trigger(PurgingTrigger.of(CountTrigger.of(100))).sum(1).print()
    """
    return isinstance(_innermost(operator.trigger), NeverTrigger) and (
        f"{node.name!r} never fires: its windows have no end, and it has no trigger. Add "
        ".trigger(CountTrigger.of(100)), say, or use windows of time."
    )


@rule("PS211", _WINDOWS)
def lateness_without_event_time(subject: Subject, node: StreamNode, operator: WindowOperator) -> Message:
    """Processing time or global windows have options for late records, and no record is ever late.

    A record is late when a watermark has passed the end of its window. Processing time windows take a record when it
    arrives, and global windows have no end, so allowed lateness and a side output for late data have no effect.

        - windows = orders.key_by(lambda order: order[0]).window(TumblingProcessingTimeWindows.of(Time.minutes(1)))
        + windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
          windows.allowed_lateness(5_000).sum(1).print()
    """
    what = "allowed_lateness()" if operator.lateness else "side_output_late_data()"
    set_in_vain = not operator.assigner.event_time and (operator.lateness or operator.late_tag is not None)
    return bool(set_in_vain) and (
        f"{what} of {node.name!r} has no effect: {operator.assigner} knows no late records. Remove it, or use windows "
        "of event time."
    )


@rule("PS212", _WINDOWS)
def late_data_unread(subject: Subject, node: StreamNode, operator: WindowOperator) -> Message:
    """Late records go to a side output that nothing reads.

    With `side_output_late_data` they are not counted as dropped, and yet lost.

        + late = OutputTag("late")
          windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        - windows.side_output_late_data(OutputTag("late")).sum(1).print()
        + totals = windows.side_output_late_data(late).sum(1)
        + totals.print()
        + totals.get_side_output(late).print("late")
    """
    return operator.late_tag not in (None, *(edge.side_output for edge in subject.outputs[node.id])) and (
        f"{node.name!r} sends late records to the side output {operator.late_tag!r}, which is never read. Call "
        "get_side_output() of the result and write it somewhere, or leave the side output out."
    )


@rule("PS213", _WINDOWS, default=False)
def late_output_without_lateness(subject: Subject, node: StreamNode, operator: WindowOperator) -> Iterator[str]:
    """Windows send late records to a side output, and allow no lateness.

    Every late record goes to the side output, even if it is a millisecond late. With some allowed lateness the window
    corrects its result for records that arrive soon, and the side output gets the others.

          late = OutputTag("late")
          windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        - windows.side_output_late_data(late).sum(1).get_side_output(late).print("late")
        + windows.allowed_lateness(5_000).side_output_late_data(late).sum(1).get_side_output(late).print("late")
    """
    if operator.late_tag is not None and not operator.lateness and operator.assigner.event_time:
        yield (
            f"{node.name!r} sends every late record to the side output {operator.late_tag!r}, and corrects no result: "
            "it allows no lateness. Add allowed_lateness(…)."
        )


@rule("PS214", _WINDOWS)
def trigger_of_other_time(subject: Subject, node: StreamNode, operator: WindowOperator) -> Iterator[str]:
    """Event time windows have a processing time trigger, or the other way round.

    Processing time windows then wait for a watermark, or event time windows fire by the clock: seldom intended.

          windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        - windows.trigger(ProcessingTimeTrigger.create()).sum(1).print()
        + windows.trigger(EventTimeTrigger.create()).sum(1).print()
    """
    other = ProcessingTimeTrigger if operator.assigner.event_time else EventTimeTrigger
    if not isinstance(operator.assigner, GlobalWindows) and isinstance(_innermost(operator.trigger), other):
        yield (
            f"{node.name!r} compares the ends of {operator.assigner} with the other time: its trigger is a "
            f"{other.__name__}. Use windows and a trigger of one time."
        )


@rule("PS215", _WINDOWS)
def many_overlapping_windows(subject: Subject, node: StreamNode, operator: WindowOperator) -> Message:
    """Sliding windows overlap so much that each record is in very many of them.

    A record is added to size / slide windows, each with its own state and timer. An hour that slides by a second is
    3,600 times the work. Aggregate short tumbling windows first and slide over their results, or slide less often.

        - sliding = SlidingEventTimeWindows.of(Time.hours(1), Time.seconds(1))
        + sliding = SlidingEventTimeWindows.of(Time.hours(1), Time.minutes(5))
          orders.key_by(lambda order: order[0]).window(sliding).sum(1).print()
    """
    assigner = operator.assigner
    sliding = isinstance(assigner, SlidingEventTimeWindows | SlidingProcessingTimeWindows)
    windows = assigner.size // assigner.slide if sliding else 0
    return windows > _MANY_WINDOWS and (
        f"{node.name!r} puts each record into {windows:,} windows: {assigner}. Slide by more, or aggregate tumbling "
        "windows first and slide over their results."
    )


@rule("PS219", _WINDOWS)
def lateness_too_short(subject: Subject, node: StreamNode, operator: WindowOperator) -> Iterator[str]:
    """Windows of a minute or more allow less than a second of lateness: perhaps seconds were meant.

    `allowed_lateness` takes milliseconds. `allowed_lateness(30)` corrects the result of an hour's window for 30
    milliseconds of event time after it has fired, which is next to nothing.

          windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        - windows.allowed_lateness(30).sum(1).print()
        + windows.allowed_lateness(30_000).sum(1).print()
    """
    size = getattr(operator.assigner, "size", None) or getattr(operator.assigner, "session_gap", 0)
    if 0 < operator.lateness < _SECOND and operator.assigner.event_time and size >= _LONG_WINDOW:
        yield (
            f"{node.name!r} allows {operator.lateness} milliseconds of lateness, for windows of {size:,}. If seconds "
            f"are meant: allowed_lateness({operator.lateness}_000)."
        )
