"""PS507 to PS509: what functions carry to tasks, and what they wait for there."""

from __future__ import annotations

import ast
import asyncio
import functools
import io
import queue
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from penstock.lint.bodies import own_nodes
from penstock.lint.inspection import attributes_of, carried_parts, class_of, is_of
from penstock.lint.rule import Found, nodes, program, rule
from penstock.lint.sources import Source
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.operators.async_wait import AsyncWait
from penstock.runtime.operators.batches import ByBatch
from penstock.runtime.usercode.functions import simple_name

_BOUND: Mapping[str, tuple[type, ...]] = {
    "a lock": (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore),
    "an event of threads": (threading.Event, threading.Barrier),
    "a thread": (threading.Thread, threading.local),
    "a pool of threads or processes": (Executor,),
    "a queue": (queue.Queue, queue.SimpleQueue),
    "an event loop": (asyncio.AbstractEventLoop,),
    "a generator, which can be iterated once": (GeneratorType, AsyncGeneratorType),
    "a coroutine": (CoroutineType,),
    "a socket": (socket.socket,),
    "a process": (subprocess.Popen,),
    "a connection to a database": (sqlite3.Connection, sqlite3.Cursor),
    "an open file": (io.FileIO, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper),
}
_SPARK = frozenset({"SparkSession", "SparkContext", "DataFrame", "RDD", "Catalog"})
_PICKLED = frozenset({"builtins", "penstock", "pyspark", "numpy", "pandas", "logging"})
"""Packages whose objects know how to be pickled."""
_PARTS = 10_000  # at most so many objects are looked at for each function
_WAITS = (
    *("requests.", "httpx.", "urllib3.", "urllib.request.urlopen", "http.client.", "socket.create_connection"),
    *("subprocess.run", "subprocess.check_", "subprocess.call", "os.system", "posix.system", "smtplib.", "ftplib."),
    *("sqlite3.connect", "_sqlite3.connect", "psycopg2.", "psycopg.", "pymysql.", "redis.", "boto3.", "builtins.input"),
)


@rule("PS507")
def process_bound_capture(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A function refers to an object that belongs to this process: a lock, a connection, an open file, a session.

    Objects that a function refers to are pickled and sent to the tasks. Most of these cannot be pickled, so the job
    fails when it starts; a file would be copied. Make such objects in `open()`, in each task, and close them in
    `close()`.

        - lock = threading.Lock()
        + class OneByOne(MapFunction):
        +     def open(self, runtime_context):
        +         self.lock = threading.Lock()

        - def one_by_one(order):
        -     with lock:
        -         return order
        +     def map(self, value):
        +         with self.lock:
        +             return value

        - orders.map(one_by_one).print()
        + orders.map(OneByOne()).print()
    """
    reported: set[int] = set()
    for function in subject.functions[node.id] if node.kind != "source" else ():
        name, kind, value = _bound(function) or ("", "", None)
        if kind and id(value) not in reported:
            reported.add(id(value))
            yield (
                f"The function {simple_name(function)} of {node.name!r} takes {name} with it, {kind}, which belongs to "
                "this process. Make it in open()."
            )


def _bound(function: Any) -> tuple[str, str, Any] | None:
    """The first object a function carries that belongs to this process: its name, its kind, the object."""
    pending: list[tuple[str, Any]] = [("", function)]
    seen: set[int] = set()
    while pending and len(seen) < _PARTS:
        name, value = pending.pop()
        if id(value) in seen or is_of(value, ModuleType):
            continue
        seen.add(id(value))
        if (kind := _kind(value)) is not None:
            return name, kind, value
        pending.extend(reversed(_parts(name, value) if not is_of(value, type) else []))
    return None


def _kind(value: Any) -> str | None:
    cls = class_of(value)
    if cls.__module__.partition(".")[0] == "pyspark" and cls.__name__ in _SPARK:
        return f"a {cls.__name__} of Spark"
    if cls.__module__.startswith("penstock.datastream.") and "environment" in cls.__module__:
        return "the environment of the program"
    if cls.__module__.startswith("penstock.datastream.streams"):
        return "a stream of the program"
    return next((kind for kind, classes in _BOUND.items() if is_of(value, *classes)), None)


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """The parts of a value that travels by value: variables of functions, attributes, items."""
    if is_of(value, functools.partial, MethodType, FunctionType):
        return list(carried_parts(value))
    if class_of(value) is dict:
        return [(f"{name}[{key!r}]" if is_of(key, str, int) else name, part) for key, part in value.items()]
    if class_of(value) in (list, tuple):
        return [(f"{name}[{index}]", part) for index, part in enumerate(value)]
    cls = class_of(value)
    pickles = any(vars(base).keys() & {"__getstate__", "__reduce__", "__reduce_ex__"} for base in cls.__mro__[:-1])
    if pickles or cls.__module__.partition(".")[0] in _PICKLED:
        return []
    return [(f"{name or 'self'}.{attribute}", part) for attribute, part in attributes_of(value).items()]


@rule("PS508", program)
def late_bound_variable(subject: Subject) -> Iterator[Found]:
    """Functions that are made in a loop share the loop variable, and all see its last value.

    A lambda looks up a variable when it runs, or when it is pickled; by then the loop is over. Bind the value when the
    function is made: `lambda order, limit=limit: …`, or `functools.partial`.

          for limit in (10, 100):
        -     orders.filter(lambda order: order[1] > limit).print()
        +     orders.filter(lambda order, limit=limit: order[1] > limit).print()
    """
    by_code: dict[int, list[tuple[int, FunctionType]]] = {}
    for number, functions in subject.functions.items():
        for function in functions:
            if is_of(function, FunctionType):
                by_code.setdefault(id(function.__code__), []).append((number, function))
    for same in by_code.values():
        if len({id(function) for _, function in same}) < 2:
            continue
        source = next(iter(subject.sources.of(same[0][1]).values()), None)
        names = set[str]() if source is None else _loop_variables(subject, source) & _shared(same[0][1], same[1][1])
        for number, function in same if names else ():
            listed, first = ", ".join(sorted(names)), min(names)
            yield Found(
                f"The function {simple_name(function)} of {subject.nodes[number].name!r} is made in a loop and uses "
                f"{listed} of it: all of them see the last value. Bind it, as a parameter {first}={first} say.",
                number,
            )


def _loop_variables(subject: Subject, source: Source) -> set[str]:
    targets: list[ast.AST] = []
    variables: set[str] = set()
    for node in subject.sources.enclosing(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            break
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            names = (name for name in own_nodes(node) if isinstance(name, ast.Name))
            variables |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            targets += [node.target] if isinstance(node, ast.For | ast.AsyncFor) else []
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets += [generator.target for generator in node.generators]
    return variables | {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _shared(one: FunctionType, other: FunctionType) -> set[str]:
    """The variables that two functions of the same code look up in the same place."""
    cells = zip(one.__code__.co_freevars, one.__closure__ or (), other.__closure__ or (), strict=False)
    variables = {name for name, first, second in cells if first is second}
    return variables | {name for name in one.__code__.co_names if name in one.__globals__}


@rule("PS509", nodes)
def blocking_call(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A function waits for another system, record by record.

    A request, a new connection or a process takes milliseconds at least, and records, watermarks and checkpoints of the
    subtask wait for it. Use `AsyncDataStream` for requests, open connections in `open()`, or read the data as a stream
    and join it. Sources and sinks are not reported.

        - def price(order):
        -     with urllib.request.urlopen(f"https://prices.example/{order[0]}") as answer:
        -         return answer.read()
        + class Prices(MapFunction):
        +     def open(self, runtime_context):
        +         with urllib.request.urlopen("https://prices.example/all") as answer:
        +             self.prices = json.load(answer)

        - orders.map(price).print()
        +     def map(self, value):
        +         return self.prices[value[0]]
        +
        + orders.map(Prices()).print()
    """
    if node.kind in ("source", "sink") or isinstance(subject.operator(node.id), AsyncWait | ByBatch):
        return
    for function in subject.functions[node.id]:
        calls = sorted(name for name in subject.inspector.uses_per_record(function).calls if name.startswith(_WAITS))
        if calls:
            yield (
                f"The function {simple_name(function)} of {node.name!r} calls {calls[0]} for each record, and its "
                "subtask waits. Use AsyncDataStream, open connections in open(), or join a stream."
            )
