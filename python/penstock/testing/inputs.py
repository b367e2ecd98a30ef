"""Harnesses by number of inputs; all else is in :class:`~penstock.testing.harness.TestHarness`. Sources of the names:
Flink's ``OneInputStreamOperatorTestHarness``, ``TwoInputStreamOperatorTestHarness``, ``BroadcastOperatorTestHarness``,
and their keyed forms, for programs with ``key_by``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common import TypeInformation
from penstock.datastream import BroadcastConnectedStream, DataStream, DataStreamSink, MapStateDescriptor
from penstock.testing.harness import Options, TestHarness

if TYPE_CHECKING:
    from typing_extensions import Unpack

IN = TypeVar("IN")
IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")


class OneInputTestHarness(TestHarness[OUT], Generic[IN, OUT]):
    """An operator of one input, or a sink function.

    ``OneInputTestHarness(lambda words: words.key_by(first).process(Count()), Types.STRING())``

    Args:
        program: makes its one operator of a stream, also behind ``key_by`` and the like.
        input_type: of the records; None for undeclared.
        options: parallelism and so on, as of :class:`~penstock.testing.TestHarness`.
    """

    def __init__(
        self,
        program: Callable[[DataStream[IN]], DataStream[OUT] | DataStreamSink[OUT]],
        input_type: TypeInformation[IN] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(program, (input_type,), **options)

    def process_element(self, value: IN, timestamp: int | None = None) -> None:
        """A record comes in; InvalidProgramError if its key belongs to another subtask."""
        self._process(0, "process_element()", value, timestamp)

    def process_elements(self, values: Iterable[IN], timestamp: int | None = None) -> None:
        """Records come in, all with one timestamp."""
        for value in values:
            self.process_element(value, timestamp)

    def process_watermark(self, timestamp: int) -> None:
        """A watermark comes in, in milliseconds: timers and windows up to it fire."""
        self._watermark(0, "process_watermark()", timestamp)


class TwoInputTestHarness(TestHarness[OUT], Generic[IN1, IN2, OUT]):
    """An operator of two inputs. Its watermark is the smaller of the two.

    ``TwoInputTestHarness(lambda a, b: a.connect(b).key_by(key, key).process(Match()))``

    Args:
        program: makes its one operator of two streams.
        input_type1: of the first one's records; None for undeclared.
        input_type2: of the second one's records; None for undeclared.
        options: parallelism and so on, as of :class:`~penstock.testing.TestHarness`.
    """

    def __init__(
        self,
        program: Callable[[DataStream[IN1], DataStream[IN2]], DataStream[OUT]],
        input_type1: TypeInformation[IN1] | None = None,
        input_type2: TypeInformation[IN2] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(program, (input_type1, input_type2), **options)

    def process_element1(self, value: IN1, timestamp: int | None = None) -> None:
        """A record comes in by the first input; InvalidProgramError if its key belongs to another subtask."""
        self._process(1, "process_element1()", value, timestamp)

    def process_element2(self, value: IN2, timestamp: int | None = None) -> None:
        """A record comes in by the second input; as :meth:`process_element1`."""
        self._process(2, "process_element2()", value, timestamp)

    def process_watermark1(self, timestamp: int) -> None:
        """A watermark comes in by the first input, in milliseconds."""
        self._watermark(1, "process_watermark1()", timestamp)

    def process_watermark2(self, timestamp: int) -> None:
        """A watermark comes in by the second input, in milliseconds."""
        self._watermark(2, "process_watermark2()", timestamp)

    def process_both_watermarks(self, timestamp: int) -> None:
        """A watermark comes in by the first input, then by the second."""
        self.process_watermark1(timestamp)
        self.process_watermark2(timestamp)


class BroadcastTestHarness(TestHarness[OUT], Generic[IN1, IN2, OUT]):
    """A function with broadcast state.

    Args:
        program: makes its one operator of a connection.
        descriptors: of the broadcast states.
        key_selector: the elements' key; None where they have none.
        input_type: of the elements; None for undeclared. So of the others.
        options: parallelism and so on, as of :class:`~penstock.testing.TestHarness`.
    """

    def __init__(
        self,
        program: Callable[[BroadcastConnectedStream[IN1, IN2]], DataStream[OUT]],
        *descriptors: MapStateDescriptor[Any, Any],
        key_selector: Callable[[IN1], Any] | None = None,
        input_type: TypeInformation[IN1] | None = None,
        broadcast_type: TypeInformation[IN2] | None = None,
        key_type: TypeInformation[Any] | None = None,
        **options: Unpack[Options],
    ) -> None:
        def connected(elements: DataStream[IN1], rules: DataStream[IN2]) -> DataStream[OUT]:
            keyed = elements if key_selector is None else elements.key_by(key_selector, key_type=key_type)
            return program(keyed.connect(rules.broadcast(*descriptors)))

        super().__init__(connected, (input_type, broadcast_type), **options)

    def process_element(self, value: IN1, timestamp: int | None = None) -> None:
        """A record comes in by the other side; InvalidProgramError if its key belongs to another subtask."""
        self._process(1, "process_element()", value, timestamp)

    def process_broadcast_element(self, value: IN2, timestamp: int | None = None) -> None:
        """A record comes in by the broadcast side."""
        self._process(2, "process_broadcast_element()", value, timestamp)

    def process_watermark(self, timestamp: int) -> None:
        """A watermark comes in by the side that is not broadcast, in milliseconds."""
        self._watermark(1, "process_watermark()", timestamp)

    def process_broadcast_watermark(self, timestamp: int) -> None:
        """A watermark comes in by the broadcast side, in milliseconds."""
        self._watermark(2, "process_broadcast_watermark()", timestamp)
