"""Connectors that cannot run here, made of descriptions: programs that import, build or plan them work, and ``execute``
says what to use instead before anything starts.

A description is a line per class, which may go on in the next::

    Name [role] : member member …

with the members

    name(a,b=)        keeps its arguments and returns the object itself
    name(a)->Other    returns an Other that has the object's arguments and these
    @name(a)->Other   the same of a static method; without an arrow it returns one of its own class
    +(a,b)            the constructor
    ?name=a           gives back the argument a
    !name(a)->Other   as ``name(a)->Other``, once the builder has been told all that is behind ``needs``
    CONSTANT          a member of an enumeration

What arguments have to be follows from their names, see ``_WHOLE`` and ``_TEXTS``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from penstock.common import checks
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.connectors.base import Sink
from penstock.datastream.functions import SinkFunction, SourceFunction
from penstock.errors import UnsupportedError
from penstock.runtime.io.splits import Source

_MEMBER = re.compile(r"(?P<kind>[@+?!]?)(?P<name>\w*)(?:\((?P<parameters>[^)]*)\))?(?:(?:->|=)(?P<result>[\w.]+))?")
_WHOLE = frozenset(
    """
    port size max_retries interval_ms interval_millis num_max_actions max_size_mb timeout delay_millis
    max_batch_size max_batch_size_in_bytes max_buffered_requests max_in_flight_requests max_record_size_in_bytes
    connection_timeout max_time_in_buffer_ms prefetch_count requested_channel_max requested_frame_max
    requested_heartbeat ttl timestamp network_recovery_interval max_concurrent_requests
    log_accumulator_interval_millis
    """.split()  # noqa: SIM905
)
_TEXTS = frozenset(
    """
    url user_name password driver_name sql username prefix index_field key_field index doc_type queue_name
    admin_url service_url topic_pattern consumer_name subscription_name producer_name stream_name query host
    delivery_stream_name aggregate_name uri vhost auth_plugin_class_name auth_params_string
    topic_router_class_name key_space
    """.split()  # noqa: SIM905
)
_TRUTHS = frozenset(
    """
    fail_on_error use_correlation_id automatic_recovery topology_recovery_enabled enabled inclusive
    support_null_key
    """.split()  # noqa: SIM905
)
_CLASSES: Mapping[str, tuple[type, str]] = {
    "serialization_schema": (SerializationSchema, "Give a SerializationSchema, such as SimpleStringSchema()."),
    "deserialization_schema": (DeserializationSchema, "Give a DeserializationSchema, such as SimpleStringSchema()."),
    "type_info": (TypeInformation, "Give a type, such as Types.ROW([Types.INT(), Types.STRING()])."),
}


class Described:
    """Base of what is described: keeps what it is given, as it was said.

    Attributes:
        advice: what to use instead, for what is read from or written to.
        given: arguments by their names.
    """

    advice: str = ""
    role: str = ""
    given: dict[str, Any]

    def __init__(self) -> None:
        self.given = {}

    def __repr__(self) -> str:
        secret = ("password", "authentication")
        shown = (f"{name}={'…' if name in secret else repr(value)}" for name, value in self.given.items())
        return f"<{type(self).__qualname__} {', '.join(shown)}>"


class _Planned(Described):
    """What streams take and no task runs."""

    @property
    def plan_only(self) -> str:
        """Which of them it is, as a message goes on behind the name of the call."""
        return f" of {type(self).__name__}"


class DescribedSink(_Planned, Sink[Any]):
    """For ``sink_to``."""

    def runtime(self) -> Any:
        """Nothing in tasks."""
        raise UnsupportedError(f"{type(self).__name__} has nothing to run. Use {self.advice}.")


class DescribedSource(_Planned, Source[Any]):
    """For ``from_source``."""


class DescribedSinkFunction(_Planned, SinkFunction[Any]):
    """For ``add_sink``."""

    def invoke(self, value: Any, context: Any = None, /) -> None:
        """Nothing."""
        raise UnsupportedError(f"{type(self).__name__} has nothing to run. Use {self.advice}.")


class DescribedSourceFunction(_Planned, SourceFunction[Any]):
    """For ``add_source``."""

    def run(self, ctx: Any, /) -> None:
        """Nothing."""
        raise UnsupportedError(f"{type(self).__name__} has nothing to run. Use {self.advice}.")


_ROLES: Mapping[str, type[Described]] = {
    "": Described,
    "sink": DescribedSink,
    "source": DescribedSource,
    "sink function": DescribedSinkFunction,
    "source function": DescribedSourceFunction,
}


def described(text: str, reading: str = "", writing: str = "") -> dict[str, type[Any]]:
    """The classes of a description, by their names; those inside others by ``Outer.Inner``.

    Args:
        text: the description.
        reading: what to use instead of a source, half a sentence behind "use".
        writing: what to use instead of a sink.
    """
    made: dict[str, type[Any]] = {}
    for line in _lines(text):
        head, _, members = f"{line} ".partition(" : ")
        name, _, role = head.partition(" ")
        of = re.match(r"of (\w+)", role)
        base = made[of[1]] if of else _ROLES.get(role.strip("[]"), Described)
        made[name] = _class(
            name, base, members.split(), made, reading if "source" in role else writing, role == "[enum]"
        )
        outer, _, inner = name.rpartition(".")
        if outer:
            setattr(made[outer], inner, made[name])
    return made


def _lines(text: str) -> list[str]:
    """The lines of a description; one without a colon belongs to the one before."""
    lines: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if f"{line} ".find(" : ") < 0:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return lines


def _class(
    name: str, base: type[Any], members: list[str], made: dict[str, type[Any]], advice: str, is_enum: bool
) -> type[Any]:
    home = {"__module__": "penstock.datastream.connectors.planned", "__qualname__": name}
    if is_enum:
        return _enumeration(name.rpartition(".")[2], members, home)
    needs = tuple(members[members.index("needs") + 1 :]) if "needs" in members else ()
    own = members[: members.index("needs")] if needs else members
    namespace: dict[str, Any] = {**home, "advice": advice, "__doc__": f"PyFlink's ``{name}``: kept, and planned only."}
    for member in own:
        found = _MEMBER.fullmatch(member)
        assert found is not None, member
        kind, called, parameters, result = found.group("kind", "name", "parameters", "result")
        if kind == "?":
            namespace[called] = _getter(called, result)
            continue
        names = [each for each in (parameters or "").split(",") if each]
        method = _method(name, kind, called or "__init__", names, result or "", made, needs)
        namespace[called or "__init__"] = staticmethod(method) if kind == "@" else method
    return type(name.rpartition(".")[2], (base,), namespace)


def _enumeration(name: str, members: list[str], home: dict[str, str]) -> type[Any]:
    made: Any = Enum(name, {member: index for index, member in enumerate(members)}, module=home["__module__"])
    made.__doc__ = f"PyFlink's ``{name}``."
    return made


def _getter(name: str, parameter: str) -> Callable[[Any], Any]:
    def get(self: Described) -> Any:
        return self.given.get(parameter)

    get.__name__, get.__doc__ = name, f"What was given as ``{parameter}``, None if nothing was."
    return get


def _method(
    owner: str,
    kind: str,
    name: str,
    names: list[str],
    result: str,
    made: dict[str, type[Any]],
    needs: tuple[str, ...],
) -> Callable[..., Any]:
    signature = _signature(names, instance=kind != "@")
    call = owner if name == "__init__" else f"{owner}.{name}"

    def method(*args: Any, **kwargs: Any) -> Any:
        arguments = _bound(signature, call, args, kwargs)
        self = arguments.pop("self", None)
        if name == "__init__":
            self.given = _checked(arguments, call)
            return None
        kept = _checked(arguments, call)
        if kind == "!":
            _refuse_unfinished(self, call, needs)
        if not result and kind != "@":
            self.given.update(kept)
            return self
        other = _empty(made[result or owner])
        other.given = {**({} if self is None else self.given), **kept}
        return other

    method.__name__, method.__qualname__ = name, f"{owner}.{name}"
    method.__doc__ = "Keeps what it is given, as PyFlink's does."
    vars(method)["__signature__"] = signature
    return method


def _empty(cls: Any) -> Any:
    made: Any = cls.__new__(cls)
    made.given = {}
    return made


def _signature(names: list[str], instance: bool) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", kind)] if instance else []
    for name in names:
        default = None if name.endswith("=") else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name.rstrip("="), kind, default=default))
    return inspect.Signature(parameters)


def _bound(signature: inspect.Signature, call: str, args: Any, kwargs: Any) -> dict[str, Any]:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        takes = ", ".join(name for name in signature.parameters if name != "self")
        checks.refuse(f"{call}() takes ({takes}), as PyFlink's does: {error}.")
    bound.apply_defaults()
    return dict(bound.arguments)


def _checked(arguments: dict[str, Any], call: str) -> dict[str, Any]:
    """Refuse what is of another type than its name says; what is left out stays out."""
    kept = {name: value for name, value in arguments.items() if value is not None}
    for name, value in kept.items():
        if name in _WHOLE:
            checks.integer(value, call, name)
        elif name in _TEXTS:
            checks.text(value, call, name)
        elif name in _TRUTHS:
            checks.boolean(value, call, name)
        elif name in _CLASSES:
            cls, hint = _CLASSES[name]
            checks.instance(value, call, cls, hint)
    missing = [name for name in arguments if name not in kept and name in ("sql", "url", "host", "type_info")]
    if missing:
        checks.refuse(f"{call}() was given None as {missing[0]}. Give a value.")
    return kept


def _refuse_unfinished(builder: Described, call: str, needs: tuple[str, ...]) -> None:
    for need in needs:
        setter, _, parameter = need.partition("=")
        if parameter not in builder.given:
            checks.illegal_argument(f"{call}(): {setter}(…) has not been called on the builder. Call it before.")
