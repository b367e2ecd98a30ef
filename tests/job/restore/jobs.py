"""Small jobs that end after some steps, to be gone on with by others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from penstock.common import Configuration, Types
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.job.steps.loop import StepLoop
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


def environment(folder: Path | str | None = None, parallelism: int = 2, **settings: Any) -> StreamExecutionEnvironment:
    """Of the local executor; ``penstock__step__records=10`` is a setting."""
    settings = {"penstock__files__commit_interval": 0, **settings}
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    if folder is not None:
        values["execution.checkpointing.dir"] = str(folder)
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), executor="local")
    return env.set_parallelism(parallelism)


@contextlib.contextmanager
def ending_after(steps: int) -> Iterator[None]:
    """Within the block a job ends after so many steps, as if it was stopped."""
    done, step, dry = 0, StepLoop._step, StepLoop._dry

    def stepping(self: StepLoop, *args: Any) -> None:
        nonlocal done
        step(self, *args)
        done += 1

    with (
        mock.patch.object(StepLoop, "_step", stepping),
        mock.patch.object(StepLoop, "_dry", lambda self: done >= steps or dry(self)),
    ):
        yield


def some(stream: Any, steps: int) -> list[Any]:
    """The records of the first steps of a stream."""
    with ending_after(steps):
        return collected(stream)


class Count(KeyedProcessFunction):
    """Emits each record's key with how many of it have come, in a state."""

    def __init__(self, name: str = "count") -> None:
        self.name = name

    def open(self, context: Any) -> None:
        self.count = context.get_state(ValueStateDescriptor(self.name, Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count
