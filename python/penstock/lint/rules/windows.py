"""PS2xx, the second half: windows that never fire, or not as they are meant to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows, SlidingEventTimeWindows, SlidingProcessingTimeWindows
from penstock.runtime.windows.triggers import EventTimeTrigger, NeverTrigger, ProcessingTimeTrigger, PurgingTrigger

MANY_WINDOWS = 100
"""Windows from which on a record is in many of them."""


def _innermost(trigger: Any) -> Any:
    """What is inside of triggers that purge."""
    while isinstance(trigger, PurgingTrigger):
        trigger = cast("Any", trigger).nested_trigger
    return trigger


class GlobalWindowsWithoutTrigger(Rule):
    """Global windows have no trigger, so they never fire.

    There is one global window for each key, and it has no end. Without a trigger of your own all records are kept, and
    nothing comes out.

    Bad::

        orders.key_by(lambda order: order[0]).window(GlobalWindows.create()).sum(1).print()

    Good::

        windows = orders.key_by(lambda order: order[0]).window(GlobalWindows.create())
        windows.trigger(PurgingTrigger.of(CountTrigger.of(100))).sum(1).print()
    """

    code = "PS210"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            trigger = _innermost(operator.trigger)
            if isinstance(trigger, NeverTrigger):
                yield Found(
                    f"{node.name!r} never fires: its windows have no end, and it has no trigger. Add "
                    ".trigger(CountTrigger.of(100)), say, or use windows of time.",
                    node.id,
                )


class LatenessWithoutEventTime(Rule):
    """Windows by the clock or by count are told what to do with late records, and there are none.

    A record is late when a watermark has passed the end of its window. Windows of processing time take a record when it
    comes, and global windows have no end, so allowed lateness and a side output for late data have no effect.

    Bad::

        windows = orders.key_by(lambda order: order[0]).window(TumblingProcessingTimeWindows.of(Time.minutes(1)))
        windows.allowed_lateness(5_000).sum(1).print()

    Good::

        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.allowed_lateness(5_000).sum(1).print()
    """

    code = "PS211"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            if not operator.assigner.event_time and (operator.lateness or operator.late_tag is not None):
                what = "allowed_lateness()" if operator.lateness else "side_output_late_data()"
                yield Found(
                    f"{what} of {node.name!r} has no effect: {operator.assigner} knows no late records. Remove it, or "
                    "use windows of event time.",
                    node.id,
                )


class LateDataUnread(Rule):
    """Late records go to a side output that nobody reads.

    With `side_output_late_data` they are not dropped and not counted as dropped, but nobody gets them either.

    Bad::

        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.side_output_late_data(OutputTag("late")).sum(1).print()

    Good::

        late = OutputTag("late")
        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        totals = windows.side_output_late_data(late).sum(1)
        totals.print()
        totals.get_side_output(late).print("late")
    """

    code = "PS212"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            read = {edge.side_output for edge in subject.outputs[node.id]}
            if operator.late_tag is not None and operator.late_tag not in read:
                yield Found(
                    f"{node.name!r} sends late records to the side output {operator.late_tag!r}, which nobody reads. "
                    "Call get_side_output() of the result and write it somewhere, or leave the side output out.",
                    node.id,
                )


class LateOutputWithoutLateness(Rule):
    """Windows send late records away, and allow no lateness.

    Every record that is later than the watermark leaves the window for the side output, one millisecond after the
    window has fired as well as one day. With some allowed lateness the window corrects its result for those that come
    soon, and the side output gets the others.

    Bad::

        late = OutputTag("late")
        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.side_output_late_data(late).sum(1).get_side_output(late).print("late")

    Good::

        late = OutputTag("late")
        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.allowed_lateness(5_000).side_output_late_data(late).sum(1).get_side_output(late).print("late")
    """

    code = "PS213"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            if operator.late_tag is not None and not operator.lateness and operator.assigner.event_time:
                yield Found(
                    f"{node.name!r} sends every late record to the side output {operator.late_tag!r}, and corrects no "
                    "result: it allows no lateness. Add allowed_lateness(…).",
                    node.id,
                )


class TriggerOfOtherTime(Rule):
    """Windows of one time have the trigger of the other one.

    Windows of processing time that wait for a watermark, or windows of event time that fire by the clock, seldom do
    what is meant: the window's end is a time of the one kind, and is compared with the other.

    Bad::

        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.trigger(ProcessingTimeTrigger.create()).sum(1).print()

    Good::

        windows = orders.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.trigger(EventTimeTrigger.create()).sum(1).print()
    """

    code = "PS214"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            if isinstance(operator.assigner, GlobalWindows):
                continue
            trigger = _innermost(operator.trigger)
            other = ProcessingTimeTrigger if operator.assigner.event_time else EventTimeTrigger
            if isinstance(trigger, other):
                yield Found(
                    f"{node.name!r} compares the ends of {operator.assigner} with the other time: its trigger is a "
                    f"{other.__name__}. Use windows and a trigger of one time.",
                    node.id,
                )


class ManyOverlappingWindows(Rule):
    """Sliding windows overlap so much that each record is in very many of them.

    A record is added to size / slide windows, each with a state and a timer of its own. An hour that slides by a second
    is 3,600 times the work. Aggregate short tumbling windows first and slide over their results, or slide less often.

    Bad::

        sliding = SlidingEventTimeWindows.of(Time.hours(1), Time.seconds(1))
        orders.key_by(lambda order: order[0]).window(sliding).sum(1).print()

    Good::

        sliding = SlidingEventTimeWindows.of(Time.hours(1), Time.minutes(5))
        orders.key_by(lambda order: order[0]).window(sliding).sum(1).print()
    """

    code = "PS215"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(WindowOperator):
            assigner = operator.assigner
            if not isinstance(assigner, SlidingEventTimeWindows | SlidingProcessingTimeWindows):
                continue
            windows = assigner.size // assigner.slide
            if windows > MANY_WINDOWS:
                yield Found(
                    f"{node.name!r} puts each record into {windows:,} windows: {assigner}. Slide by more, or "
                    "aggregate tumbling windows first and slide over their results.",
                    node.id,
                )
