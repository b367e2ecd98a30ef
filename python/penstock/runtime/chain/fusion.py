"""The fused form of a chain: its operators as generated functions, one call per stretch of records.

In the list form (:mod:`.outputs`) a record costs three Python calls per operator beside the user's own. Here the
operators are written out as the statements of one loop, which is compiled. What can be observed is as in the list form:
each record goes all the way down before the next one, functions are called in the same order with the same objects or
copies, and what a function raises is put down to its operator, by the line of the generated text.

Where records leave the chain they are gathered in a list, if nothing can change them any more, and handed over
together; after an exception too, so that of two errors the one of the earlier record counts.

A generated function holds up to 64 operators and 12 loops inside each other (Python allows 20); longer chains are
several functions. An operator without a :class:`~.operator.Fragment` is called. Cost: O(operators) of text, compiled
once per shape; no recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from penstock.runtime.buffers.codec import is_immutable
from penstock.runtime.chain.operator import FLUSH, Around, Fragment, Leaf, LiveOperator
from penstock.runtime.chain.outputs import Collector, Feed, Target
from penstock.runtime.usercode.failure import OperatorFailure

MAX_OPERATORS = 64
MAX_LOOPS = 12
_FILE = str(Path(__file__).resolve().parents[1] / "<fused chain>")
"""Where tracebacks say generated code stands: inside the runtime, whose frames users do not see."""

Owner = tuple[LiveOperator, "Fragment | None", Mapping[str, str]]
"""The origin of a line: the operator, its fragment, and the fragment's names ``v``, ``t``, ``o``, ``r``."""
TimedFeed = Callable[[Sequence[Any], Iterable["int | None"]], None]
KeyedFeed = Callable[[Sequence[Any], Sequence[Any], "int | None"], None]
TimedKeyedFeed = Callable[[Sequence[Any], Sequence[Any], Iterable["int | None"]], None]
FiringFeed = Callable[[Callable[["int | None", Any], "int | None"], "int | None", Any], None]
"""Fires timers up to a limit: takes the function that makes the key of the next one current and gives its time, the
limit, and the keyed state."""


class Fusion:
    """The generated functions of one chain. ``targets`` and ``operators`` are by position; ``immutable`` says
    whether nobody can change a record. With ``gathers``, records that leave may be gathered: not where operators
    tell the task to be idle. ``native`` says whether columns may stay columns."""

    def __init__(self, *, gathers: bool, functions: ModuleType | None = None, native: bool = True) -> None:
        self.targets: dict[int, list[Target]] = {}
        self.gathers, self.functions, self.native = gathers, functions, native
        self.immutable: Callable[[Any], bool] = is_immutable if functions is None else functions.is_immutable
        self._are_immutable: Callable[[list[Any]], bool] = getattr(functions, "are_immutable", lambda values: False)
        self.operators: dict[int, LiveOperator] = {}
        self._entries: dict[int, Fragment | Leaf | None] = {}
        self._size: dict[int, tuple[int, int]] = {}
        self._called: dict[tuple[int, int], Collector] = {}

    def add(self, position: int, operator: LiveOperator) -> None:
        """Take an operator all of whose targets have been taken before."""
        self.operators[position] = operator
        entry = self._entries[position] = operator.fragment()
        if entry is None or isinstance(entry, Leaf):
            self._size[position] = 1, 0
            return
        sizes = [self._size[t.position] for t in self.targets[position] if t.tag is None and t.writer is None]
        operators = 1 + sum(size for size, _ in sizes)
        loops = entry.loops + max((depth for _, depth in sizes), default=0)
        if operators > MAX_OPERATORS or loops > MAX_LOOPS:
            self._called[position, 0] = self.into(position).collector()
            operators, loops = 1, 0
        self._size[position] = operators, loops

    def entry(self, position: int, number: int) -> Fragment | Leaf | Collector:
        called = self._called.get((position, number))
        if called is not None:
            return called
        entry = self._entries[position]
        if number and isinstance(entry, Fragment):
            entry = self.operators[position].fragment(number)
        if entry is None:
            called = self._called[position, number] = self.operators[position].input(number)
            return called
        return entry

    def into(self, position: int, number: int = 0) -> Text:
        """For what takes records into an operator."""
        return Text(self, [Target(None, None, position, number)], None)

    def behind(self, position: int, tag: str | None = None) -> Text:
        """For what takes records that an operator emits."""
        return Text(self, [target for target in self.targets[position] if target.tag == tag], position)

    def of(self, targets: list[Target]) -> Text:
        """For what takes records for some of the targets of an operator, which nobody else has."""
        return Text(self, [target._replace(tag=None, copy=None) for target in targets], None)

    def results_feed(self, position: int) -> Feed:
        """Takes records of one timestamp that an operator emits, in lists that often hold nothing that can change:
        where that is so, nothing is copied or looked at one by one. Needs the native functions."""
        text, are_immutable = self.behind(position), self._are_immutable
        feed = text.feed()
        if not any(self._looks(target) for target in text.targets):
            return feed
        targets = [t if t.crosses else t._replace(copy=None) for t in text.targets]
        as_they_are = Text(self, targets, position, immutable=True).feed()
        return lambda results, timestamp: (as_they_are if are_immutable(results) else feed)(results, timestamp)

    def _looks(self, target: Target) -> bool:
        """Whether records for a target are copied, or looked at, because they may change."""
        if target.writer is not None:
            return target.writer.freeze is not None
        entry = self.entry(target.position, target.number)
        return target.copy is not None or (isinstance(entry, Leaf) and not entry.immutable)


class _Step(NamedTuple):
    """A place in a text where a target takes a record: the names of the record and of its timestamp, the indentation,
    how many loops there are around it, and who has emitted the record."""

    target: Target
    value: str
    time: str
    indent: int
    loops: int
    owner: Owner | None


class _After(NamedTuple):
    around: Around
    names: dict[str, str]
    indent: int
    operator: LiveOperator


class Text:
    """The text of one function, and the objects in it. ``emitter`` is the operator that emits the records given to
    the function, None for those that come into the chain; ``immutable`` says that these records are known to be."""

    def __init__(self, fusion: Fusion, targets: list[Target], emitter: int | None, *, immutable: bool = False) -> None:
        self._fusion, self.targets, self._emitter, self._immutable = fusion, targets, emitter, immutable
        self._lines: list[str] = []
        self._owners: list[Owner | None] = []
        self._bindings: dict[str, Any] = {}
        self._gathered: dict[str, str] = {}  # lists, and those of the timestamps, "" where there is but one
        self._bounded: list[str] = []
        self._around: dict[int, tuple[Around, dict[str, str]]] = {}  # by position, with its names
        self._counted: list[tuple[str, str]] = []
        self._number = 0
        self._gathering = self._many = self._keys = self._several = False

    def collector(self) -> Collector:
        if not self.targets:
            return _discard
        if len(self.targets) == 1 and self.targets[0].writer is not None:
            return self.targets[0].writer.write
        self._add(" def run(v0, t):")
        start = len(self._lines)
        self._add("  try:")
        self._body(self._steps(3))
        self._begin(start)
        self._end()
        self._end_around()
        return self._function()

    def feed(self) -> Feed:
        self._gathering = self._fusion.gathers
        return self._loop("values, t", "for v0 in values:")

    def timed_feed(self) -> TimedFeed:
        self._gathering = self._fusion.gathers
        return self._loop("values, times", "for v0, t in zip(values, times):")

    def knows_keys(self) -> bool:
        """Whether the records' keys can be of use."""
        entries = [self._fusion.entry(target.position, target.number) for target in self.targets if not target.writer]
        return any(isinstance(entry, Fragment) and entry.known for entry in entries)

    def keyed_feed(self) -> KeyedFeed:
        self._gathering, self._keys = self._fusion.gathers, True
        return self._loop("values, keys, t", "for v0, k in zip(values, keys):")

    def timed_keyed_feed(self) -> TimedKeyedFeed:
        self._gathering, self._keys = self._fusion.gathers, True
        return self._loop("values, keys, times", "for v0, k, t in zip(values, keys, times):")

    def timers(self, fragment: Fragment, *, event_time: bool) -> FiringFeed:
        """For the results of an operator's timers: ``fragment`` is what it does with the time of one."""
        assert self._emitter is not None
        self._gathering, self._many, self._several = self._fusion.gathers, True, True
        self._add(" def run(next_due, limit, state):", "  try:", "   while (at := next_due(limit, state)) is not None:")
        self._add(f"    t = {'at' if event_time else None}")
        timer = _Step(Target(None, None, self._emitter), "at", "t", 4, 0, None)
        below, _ = self._fragment(self._fusion.operators[self._emitter], fragment, timer)
        self._body([below._replace(target=target) for target in self.targets])
        return self._end_loop(1)

    def _loop(self, parameters: str, head: str) -> Any:
        if not self.targets:
            return _discard
        self._many = True
        self._add(f" def run({parameters}):")
        start = len(self._lines)
        asks = None if self._emitter is None else (self._fusion.operators[self._emitter], None, {})
        self._add("  try:")
        self._add(f"   {head}", owner=asks)  # where the records may come from a function that runs meanwhile
        self._several = "times" in parameters
        self._body(self._steps(4))
        return self._end_loop(start)

    def _end_loop(self, start: int) -> Any:
        self._begin(start)
        self._end()
        for name in self._gathered:
            self._hand_over(name, 2)
        self._end_around()
        for n, operator in self._counted:
            self._add(f"  {operator}.emitted += {n}")
        return self._function()

    def _begin(self, start: int) -> None:
        """Put what the function begins with at a place in it."""
        begin = [f"  {name} = []" for name in self._gathered] + [f"  {n} = 0" for n, _ in self._counted]
        begin += [f"  {times} = []" for times in self._gathered.values() if times]
        begin += [f"  room_{name} = taker_{name}.room" for name in self._bounded]
        for around, names in self._around.values():
            begin += [f"  {line.format_map(names)}" for line in around.begin]
        self._lines[start:start] = begin
        self._owners[start:start] = [None] * len(begin)

    def _end_around(self) -> None:
        for around, names in self._around.values():
            self._add(*(f"  {line.format_map(names)}" for line in around.end))

    def _end(self) -> None:
        self._bind("Failure", OperatorFailure)
        self._add("  except Failure:", "   raise", "  except Exception as error:")
        for name in self._gathered:
            self._hand_over(name, 3)
        self._bind("blame", None)  # bound below, when all lines are known
        self._add("   raise blame(error) from error")

    def _function(self) -> Any:
        names = list(self._bindings)
        self._add(" return run")
        text = "\n".join([f"def make({', '.join(names)}):", *self._lines])
        self._bindings["blame"] = _blamer([None, *self._owners])
        namespace: dict[str, Any] = {}
        exec(_compiled(text), namespace)
        return namespace["make"](**self._bindings)

    def _steps(self, indent: int) -> list[_Step]:
        """Where the targets take the records that the function is called with."""
        emitter = None if self._emitter is None else (self._fusion.operators[self._emitter], None, {})
        return [_Step(target, "v0", "t", indent, 0, emitter) for target in self.targets]

    def _body(self, steps: list[_Step]) -> None:
        """The statements of all operators from these steps on, depth first, from a stack."""
        stack: list[_Step | _After] = [*reversed(steps)]
        while stack:
            step = stack.pop()
            if isinstance(step, _After):
                self._after(step)
                continue
            target, value, time, deep, loops, owner = step
            if target.copy is not None:
                copied = f"c{self._next()}"
                copy = self._bind(f"copy{copied}", target.copy)
                immutable = "" if target.crosses else self._bind("immutable", self._fusion.immutable)
                same = f"{value} if {immutable}({value}) else " if immutable else ""
                self._add(f"{' ' * deep}{copied} = {same}{copy}({value})", owner=owner)
                value = copied
            writer = target.writer
            if writer is not None:
                leaf = Leaf(writer.write, writer.write_batch, writer.freeze is None, writer, writer.write_timed)
                self._leaf(leaf, value, time, deep, loops, owner)
                continue
            entry = self._fusion.entry(target.position, target.number)
            operator = self._fusion.operators[target.position]
            if isinstance(entry, Leaf):
                self._leaf(entry, value, time, deep, loops, (operator, None, {}))
            elif isinstance(entry, Fragment):
                below, after = self._fragment(operator, entry, step._replace(value=value))
                targets = [t for t in self._fusion.targets[target.position] if t.tag is None]
                if entry.depth and not targets and not entry.counted:
                    self._add(f"{' ' * below.indent}pass")
                if after is not None:
                    stack.append(after)
                stack += [below._replace(target=t) for t in reversed(targets)]
            else:
                self._add(f"{' ' * deep}{self._bind(f'call{self._next()}', entry)}({value}, {time})")

    def _fragment(self, operator: LiveOperator, fragment: Fragment, step: _Step) -> tuple[_Step, _After | None]:
        """An operator's own lines; what follows them, and what comes after that."""
        number, (target, value, time, indent, loops, _) = self._next(), step
        names = {key: self._bind(f"{key}{number}", bound) for key, bound in fragment.bindings.items()}
        names |= {"v": value, "t": time, "k": "k", "o": f"v{number}", "r": f"r{number}"}
        stamp = names["s"] = f"t{number}" if fragment.stamps else time
        after = None
        if fragment.around is not None:
            names |= {name: f"{name}_{target.position}" for name in fragment.around.names}
            after = _After(fragment.around, names, indent, operator)
            self._around.setdefault(target.position, (fragment.around, names))
        shorts = {short: names[short] for short in "vtor"}
        owner, of_key = (operator, fragment, shorts), (operator, Fragment((), explain=fragment.of_key), shorts)
        known = fragment.known if self._keys and value == "v0" else ()
        for line in known or fragment.lines[: fragment.before]:
            self._add(" " * indent + line.format_map(names), owner=of_key)
        for line in fragment.lines[fragment.before :]:
            self._add(" " * indent + line.format_map(names), owner=owner)
        below = indent + fragment.depth
        if fragment.counted:
            bound = self._bind(f"op{number}", operator)
            if self._many:
                self._counted.append((f"n{number}", bound))
            self._add(f"{' ' * below}{f'n{number}' if self._many else f'{bound}.emitted'} += 1")
        return _Step(target, fragment.out.format_map(names), stamp, below, loops + fragment.loops, owner), after

    def _after(self, step: _After) -> None:
        """The lines of an operator after a record has gone all the way down."""
        around, names, indent, operator = step
        owner = operator, Fragment((), explain=around.explain), {}
        for line in around.after:
            if line.lstrip() == FLUSH:
                for name in self._gathered:
                    self._hand_over(name, indent + len(line) - len(FLUSH))
            else:
                self._add(" " * indent + line.format_map(names), owner=owner)

    def _leaf(self, leaf: Leaf, value: str, time: str, indent: int, loops: int, owner: Owner | None) -> None:
        number, space = self._next(), " " * indent
        write = self._bind(f"write{number}", leaf.write)
        several = self._several or time != "t"
        if not self._gathering or (several and leaf.timed is None):
            self._add(f"{space}{write}({value}, {time})", owner=owner)
            return
        name = f"out{number}"
        times = self._gathered[name] = f"at{number}" if several else ""
        self._bind(f"batch_{name}", leaf.timed if several else leaf.batch)
        immutable = leaf.immutable or (self._immutable and value == "v0")
        if not immutable:
            self._add(f"{space}if {self._bind('immutable', self._fusion.immutable)}({value}):", owner=owner)
            space += " "
        self._add(f"{space}{name}.append({value})", *([f"{space}{times}.append({time})"] if times else []))
        if loops:  # one record may lead to any number of these, of any size
            self._bind(f"taker_{name}", leaf.taker)
            self._bounded.append(name)
            self._add(f"{space}if len({name}) >= room_{name}:")
            self._hand_over(name, len(space) + 1)
        if not immutable:
            self._add(f"{space[1:]}else:")
            self._hand_over(name, len(space))
            self._add(f"{space}{write}({value}, {time})", owner=owner)

    def _hand_over(self, name: str, indent: int) -> None:
        space, times = " " * indent, self._gathered[name]
        self._add(f"{space}if {name}:", f"{space} ready, {name} = {name}, []")
        if times:
            self._add(f"{space} stamps, {times} = {times}, []")
        self._add(f"{space} batch_{name}(ready, {'stamps' if times else 't'})")
        if name in self._bounded:
            self._add(f"{space} room_{name} = taker_{name}.room")

    def _add(self, *lines: str, owner: Owner | None = None) -> None:
        self._lines += lines
        self._owners += [owner] * len(lines)

    def _bind(self, name: str, value: Any) -> str:
        self._bindings[name] = value
        return name

    def _next(self) -> int:
        self._number += 1
        return self._number


def _discard(values: Any, timestamps: Any) -> None: ...


@lru_cache(maxsize=512)
def _compiled(text: str) -> CodeType:
    return compile(text, _FILE, "exec")


def _blamer(owners: list[Owner | None]) -> Callable[[Exception], BaseException]:
    """From an exception that has come out of a generated function to the failure of an operator, by the owners of
    the lines."""

    def blame(error: Exception) -> BaseException:
        trace = error.__traceback__
        owner = None if trace is None else owners[trace.tb_lineno - 1]
        if trace is None or owner is None:
            return error
        operator, fragment, names = owner
        if fragment is not None and fragment.explain is not None:
            variables = trace.tb_frame.f_locals
            values = {short: variables[name] for short, name in names.items() if name in variables}
            error = fragment.explain(values, error)
        return operator.context.fail(error)

    return blame
