"""PyFlink's connectors that cannot run here: Elasticsearch, Pulsar, Kinesis, Cassandra, RabbitMQ, dynamic Kafka.

They can be planned: their classes are made of the table of PyFlink's names, and keep their arguments; ``execute``
refuses them before anything starts, and says what to use.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from penstock.common import checks
from penstock.datastream import DataStreamSink, SinkFunction, SourceFunction
from penstock.datastream.connectors import Sink, Source
from penstock.errors import UnsupportedError
from penstock.pyflink.names import Name, definitions, members

__all__ = ["CassandraSink"]

_CONNECTORS = "pyflink.datastream.connectors."
_CLIENT = "with a client of your own"
_SOURCE = f"from_source() with a source of your own: splits() and read() {_CLIENT}"
_SINK = f"add_sink() with a function that writes {_CLIENT}"
_SECRET = ("password", "authentication")


class Instead(NamedTuple):
    """The advice instead of a connector, half a sentence behind "use"."""

    reading: str = ""  # instead of its source
    writing: str = ""  # instead of its sink


INSTEAD: Mapping[str, Instead] = {
    "cassandra": Instead(writing=f"sink_to() with a SparkSink over Cassandra's connector for Spark, or {_SINK}"),
    "dynamic_kafka": Instead("a KafkaSource for each cluster with set_bounded() of its builder, and union()"),
    "elasticsearch": Instead(writing=f"sink_to() with a SparkSink over Elasticsearch's writer for Spark, or {_SINK}"),
    "kinesis": Instead(f"{_SOURCE}, such as boto3", f"{_SINK}, such as boto3"),
    "pulsar": Instead(
        f"KafkaSource over Pulsar's Kafka protocol, or {_SOURCE}", f"KafkaSink over Pulsar's Kafka protocol, or {_SINK}"
    ),
    "rabbitmq": Instead(f"{_SOURCE}, such as pika", f"{_SINK}, such as pika"),
}
"""By the module below ``pyflink.datastream.connectors``."""


class Planned:
    """Base of what can be planned: keeps its arguments."""

    advice: str = ""  # what to use instead, for what streams take
    arguments: dict[str, Any]  # by the names of parameters; what a setter was given by its name without ``set_``

    def __init__(self) -> None:
        self.arguments = {}

    @property
    def plan_only(self) -> str:
        """Which of the connectors it is, as a message goes on behind the name of the call."""
        return f" of {type(self).__name__}"

    def __repr__(self) -> str:
        secret = {name for name in self.arguments if any(part in name for part in _SECRET)}
        shown = (f"{name}={'…' if name in secret else repr(value)}" for name, value in self.arguments.items())
        return f"<{' '.join([type(self).__qualname__, ', '.join(shown)]).rstrip()}>"


def _nothing_to_run(self: Any, *_: Any) -> Any:
    raise UnsupportedError(f"{type(self).__name__} has nothing to run. Use {self.advice}.")


class PlannedSink(Planned, Sink[Any]):
    """For ``sink_to``."""

    runtime = _nothing_to_run


class PlannedSource(Planned, Source[Any]):
    """For ``from_source``."""


class PlannedSinkFunction(Planned, SinkFunction[Any]):
    """For ``add_sink``."""

    invoke = _nothing_to_run


class PlannedSourceFunction(Planned, SourceFunction[Any]):
    """For ``add_source``."""

    run = _nothing_to_run


_ROLES: Mapping[str, type[Planned]] = {
    "Sink": PlannedSink,
    "SinkFunction": PlannedSinkFunction,
    "Source": PlannedSource,
    "SourceFunction": PlannedSourceFunction,
}
"""The classes in place of PyFlink's bases."""


def planned(name: Name) -> type[Any] | None:
    """The class for a name of PyFlink's, None if it belongs to no connector of these."""
    module = name.module.removeprefix(_CONNECTORS)
    return _class(name) if name.kind == "class" and module in INSTEAD else None


@cache
def _class(name: Name) -> type[Any]:
    """A class with its members, and the classes inside it."""
    inner = {path.removeprefix(f"{name.path}."): member for path, member in members(name).items()}
    home = {"__module__": f"penstock.{name.module}", "__qualname__": name.path}
    title = name.path.rpartition(".")[2]
    if name.parameters == "Enum":
        enumeration: Any = Enum(title, list(inner), module=home["__module__"])
        return enumeration
    namespace: dict[str, Any] = {**home, "__doc__": f"PyFlink's ``{name.path}``, to plan with: it keeps its arguments."}
    for member_name, member in inner.items():
        if member.kind == "class":
            namespace[member_name] = _class(member)
        elif "." not in member_name:
            namespace[member_name] = _member(name, member)
    instead = INSTEAD[name.module.removeprefix(_CONNECTORS)]
    namespace["advice"] = instead.reading if "Source" in name.parameters else instead.writing
    base = _ROLES.get(name.parameters)
    if base is None:
        base = _class(definitions()[name.parameters]) if name.parameters in definitions() else Planned
    return type(title, (base,), namespace)


def _member(owner: Name, member: Name) -> Any:
    """A method, by what those of its name and kind do in PyFlink."""
    name = member.path.rpartition(".")[2]
    signature = _signature(member)
    call = owner.path if name == "__init__" else member.path

    def taken(args: Any, kwargs: Any) -> dict[str, Any]:
        """The arguments of a call by name, without those that were left out."""
        parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
        try:
            return inspect.Signature(parameters).bind(*args, **kwargs).arguments
        except TypeError as error:
            names = ", ".join(parameter.name for parameter in parameters)
            checks.refuse(f"{call}() takes ({names}), as PyFlink's does: {error}.")

    def make(*args: Any, **kwargs: Any) -> Any:
        return _new(_result(owner, name), taken(args, kwargs))

    def set_up(self: Planned, /, *args: Any, **kwargs: Any) -> None:
        self.arguments = taken(args, kwargs)

    def build(self: Planned, /, *args: Any, **kwargs: Any) -> Any:
        taken(args, kwargs)
        return _new(_result(owner, name), self.arguments)

    def get(self: Planned, /, *args: Any, **kwargs: Any) -> Any:
        taken(args, kwargs)
        asked = name.partition("_")[2]
        return next((value for key, value in self.arguments.items() if key.startswith(asked)), None)

    def keep(self: Planned, /, *args: Any, **kwargs: Any) -> Any:
        values = tuple(taken(args, kwargs).values()) or (True,)
        self.arguments[name.removeprefix("set_")] = values[0] if len(values) == 1 else values
        return self

    kinds: dict[str, Callable[..., Any]] = {"__init__": set_up, "build": build}
    is_getter = name.startswith(("get_", "is_"))
    method = make if member.kind == "staticmethod" else kinds.get(name, get if is_getter else keep)
    method.__name__, method.__qualname__, method.__doc__ = name, member.path, "As PyFlink's, to plan with."
    vars(method)["__signature__"] = signature
    return staticmethod(method) if member.kind == "staticmethod" else method


def _result(owner: Name, method: str) -> type[Any]:
    """The class of what ``X.builder()`` (an XBuilder), ``XBuilder.build()`` (an X) and ``X.Builder.build()`` give."""
    outer, _, inner = owner.path.rpartition(".")
    if method == "builder":
        return _class(definitions()[f"{owner.path}Builder"])
    if method != "build":
        return _class(owner)
    return _class(definitions()[outer or _PRODUCTS.get(inner) or inner.removesuffix("Builder")])


_PRODUCTS = {"ElasticsearchSinkBuilderBase": "ElasticsearchSink"}  # what builders make whose name does not say it


def _new(cls: type[Any], arguments: Mapping[str, Any]) -> Any:
    instance: Any = object.__new__(cls)
    instance.arguments = dict(arguments)
    return instance


def _signature(member: Name) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [] if member.kind == "staticmethod" else [inspect.Parameter("self", kind)]
    for name in filter(None, member.parameters.split(", ")):
        default = None if name.endswith("=") else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name.rstrip("="), kind, default=default))
    return inspect.Signature(parameters)


_CASSANDRA = "pyflink.datastream.connectors.cassandra"
_Settings: type[Any] = _class(Name("", _CASSANDRA, "CassandraSink.CassandraSinkBuilder", "class", "object"))


class CassandraWriter(PlannedSinkFunction):
    """The sink that a :class:`CassandraSink` adds to a stream."""

    advice = INSTEAD["cassandra"].writing


class CassandraSink(DataStreamSink[Any]):
    """The end of a stream that Cassandra would take. Made by :meth:`add_sink`."""

    @staticmethod
    def add_sink(input: Any) -> CassandraSink.CassandraSinkBuilder:
        """Settings of a sink before it is added."""
        if not hasattr(input, "add_sink"):
            checks.refuse(f"CassandraSink.add_sink() was given {checks.shown(input)}. Give a stream.")
        return CassandraSink.CassandraSinkBuilder(input)

    class CassandraSinkBuilder(_Settings):
        """Settings of a :class:`CassandraSink`. Methods change it and return it."""

        def __init__(self, input: Any) -> None:
            self.arguments: dict[str, Any] = {}
            self._input = input

        def build(self) -> CassandraSink:
            """Add the sink to the stream."""
            sink = self._input.add_sink(_new(CassandraWriter, self.arguments)).name("Cassandra Sink")
            return CassandraSink(sink.transformation)
