"""Sources, sinks and notes of the run scripts: how records get in, and how what happened gets out."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from penstock.common import Types
from penstock.datastream import ParallelSourceFunction, SinkFunction, SourceFunction

TEXT = Types.STRING()


class IllegalStateException(Exception):
    java = "java.lang.IllegalStateException"


class IOException(Exception):
    java = "java.io.IOException"


class RuntimeException(Exception):
    java = "java.lang.RuntimeException"


class Notes:
    """What the subtasks of a job write down: lines under a heading, each heading written by one subtask only."""

    def __init__(self, folder: str, all_attempts: bool = False) -> None:
        self.folder = folder
        self.all_attempts = all_attempts
        self.failed = False

    def collect(self, stream: Any, id: str, *, traced: bool = False) -> Any:
        """Send a stream to a sink that notes the text of every record."""
        return stream.add_sink(TraceSink(self, id) if traced else Collect(self, id))

    def add(self, kind: str, name: str, subtask: int, attempt: int, text: str) -> None:
        heading = json.dumps([kind, name, subtask, attempt])
        with open(os.path.join(self.folder, hashlib.sha256(heading.encode()).hexdigest()), "a") as file:
            if not file.tell():
                file.write(heading + "\n")
            file.write(json.dumps(text) + "\n")

    def read(self, kind: str) -> dict[tuple[str, int], list[str]]:
        """Lines by (name, subtask), of all attempts in order."""
        texts_of: dict[tuple[str, int], list[str]] = {}
        files = (path.read_text().splitlines() for path in Path(self.folder).iterdir())
        for (of_kind, name, subtask, attempt), *lines in sorted([json.loads(line) for line in file] for file in files):
            if of_kind == kind and (self.all_attempts or attempt == 0):
                texts_of.setdefault((name, subtask), []).extend(lines)
        return texts_of


def text(value: Any) -> str:
    """A record as the scripts' results write it."""
    return value if isinstance(value, str) else "null" if value is None else "({},{},{})".format(*value)


def rec(like: Any, key: str, value: int, time: int) -> Any:
    """A new record of the same kind as another."""
    return type(like)((key, value, time))


class Traced:
    """A function that writes down its life."""

    def __init__(self, notes: Notes, name: str) -> None:
        self.notes, self.name = notes, name

    def open(self, runtime_context: Any) -> None:
        task = runtime_context.get_task_name_with_subtasks()
        self.heading = "trace", task, runtime_context.get_index_of_this_subtask(), runtime_context.get_attempt_number()
        self.trace(f"open {self.name}")

    def close(self) -> None:
        self.trace(f"close {self.name}")

    def trace(self, line: str) -> None:
        self.notes.add(*self.heading, line)


# --- sources and sinks
# ------------------------------------------------------------------------------------------------


ROUNDS = 1_000
"""How long a source waits for a sink: a program that needs more would never end."""


def play(notes: Notes, ctx: Any, items: list[Any], kind: type, plain: bool) -> None:
    for item in items:
        if isinstance(item, list):
            ctx.collect_with_timestamp(kind(item), None if plain else item[2])
        elif "wm" in item:
            ctx.emit_watermark(item["wm"])
        elif "idle" in item:
            ctx.mark_as_temporarily_idle()
        elif "settle" in item:
            ctx.end_round()
        elif "await" in item:
            wait(notes, ctx, *item["await"])
        elif "fail" in item:
            raise IllegalStateException(item["fail"])


def wait(notes: Notes, ctx: Any, sink: str, texts: int) -> None:
    """End rounds until a sink has so many texts."""
    waited = "waited", f"{sink} {texts}", 0, 0
    before = len(notes.read("waited").get(waited[1:3], ()))  # in a run that has ended: a source does the same again
    for number in range(ROUNDS):
        if number >= before:
            if sum(map(len, (lines for (name, _), lines in notes.read("sink").items() if name == sink))) >= texts:
                return
            notes.add(*waited, "")
        ctx.end_round()
    raise TimeoutError(f"{sink} has not got {texts} texts")


class Play(SourceFunction):
    def __init__(self, notes: Notes, items: list[Any], kind: type, plain: bool) -> None:
        self.notes, self.items, self.kind, self.plain = notes, items, kind, plain

    def run(self, ctx: Any) -> None:
        play(self.notes, ctx, self.items, self.kind, self.plain)


class TracedPlay(Traced, Play):
    """Plays one list of items, and says so."""

    def __init__(self, notes: Notes, name: str, *play: Any) -> None:
        Traced.__init__(self, notes, name)
        Play.__init__(self, notes, *play)

    def run(self, ctx: Any) -> None:
        self.trace(f"run {self.name}")
        super().run(ctx)
        self.trace(f"ran {self.name}")


class PlayMany(ParallelSourceFunction):
    """Plays a list of items in each subtask."""

    def __init__(self, notes: Notes, lists: list[list[Any]], kind: type) -> None:
        self.notes, self.lists, self.kind = notes, lists, kind

    def open(self, runtime_context: Any) -> None:
        self.items = self.lists[runtime_context.get_index_of_this_subtask()]

    def run(self, ctx: Any) -> None:
        play(self.notes, ctx, self.items, self.kind, plain=False)


class Collect(SinkFunction):
    def __init__(self, notes: Notes, id: str) -> None:
        self.notes, self.id = notes, id

    def open(self, runtime_context: Any) -> None:
        place = runtime_context.get_index_of_this_subtask(), runtime_context.get_attempt_number()
        self.sink_heading = "sink", self.id, *place

    def invoke(self, value: Any, context: Any = None) -> None:
        self.notes.add(*self.sink_heading, text(value))


class TraceSink(Traced, Collect):
    def __init__(self, notes: Notes, name: str) -> None:
        Traced.__init__(self, notes, name)
        Collect.__init__(self, notes, name)

    def open(self, runtime_context: Any) -> None:
        Collect.open(self, runtime_context)
        Traced.open(self, runtime_context)

    def invoke(self, value: Any, context: Any = None) -> None:
        self.trace(f"{self.name} {text(value)}")
        super().invoke(value)
