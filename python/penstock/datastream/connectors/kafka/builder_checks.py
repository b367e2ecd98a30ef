"""The settings that Kafka's builders share, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.common import checks

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


def properties(values: Any, call: str) -> dict[str, str]:
    """Properties of Kafka's client, texts by texts."""
    checks.instance(values, call, Mapping, "Give a dict: {'group.id': 'mine'}.")
    return dict(one_property(key, value, call) for key, value in values.items())


def one_property(key: Any, value: Any, call: str) -> tuple[str, str]:
    """A property of Kafka's client: two texts."""
    name: str = checks.name(key, call, "key")
    if isinstance(value, bool | int | float):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        checks.refuse(f"{call}() was given {value!r} for {name!r}; Kafka takes texts. Give {text!r}.")
    return name, checks.name(value, call, f"value of {name!r}")


def topic(value: Any, call: str) -> str:
    """``value`` itself if it can be the name of a topic."""
    if isinstance(value, list | tuple):
        checks.refuse(f"{call}() was given {checks.shown(value)}. Give topics one by one: {call}(*topics).")
    if not checks.name(value, call, "topic").strip():
        checks.illegal_argument(f"{call}(): the name of a topic is blank. Give the name of a topic.")
    return value


def needed(setting: T | None, what: str, call: str, builder: object) -> T:
    """A required setting; if it is missing, the message says ``what`` it is and which ``call`` gives it."""
    if setting is None:
        checks.refuse(f"{type(builder).__name__}.build(): {what} is missing. Call {call} before.", checks.NULL_POINTER)
    return setting


class ClientBuilder:
    """Base of the builders of source and sink: the properties of Kafka's client."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """The brokers to connect to first: hosts and ports with commas between, ``localhost:9092``."""
        if not checks.name(bootstrap_servers, "set_bootstrap_servers", "bootstrap servers").strip():
            checks.illegal_argument(
                "set_bootstrap_servers(): the text is blank. Give host and port of a broker, or several with commas "
                "between: 'localhost:9092'."
            )
        return self._with("bootstrap.servers", bootstrap_servers)

    def set_property(self, key: str, value: str) -> Self:
        """A property of Kafka's client, such as ``isolation.level`` or ``linger.ms``: texts, also of numbers."""
        return self._with(*one_property(key, value, "set_property"))

    def _with(self, key: str, value: str) -> Self:
        self._properties[key] = value
        return self

    def _check_servers(self) -> None:
        known = self._properties.get("bootstrap.servers")
        needed(known, "the address of a broker", "set_bootstrap_servers('localhost:9092')", self)
