"""Checks of the arguments of Kafka's builders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.common import checks


def servers(value: Any) -> str:
    """``value`` itself if it can be a list of brokers."""
    if not checks.name(value, "set_bootstrap_servers", "bootstrap servers").strip():
        checks.illegal_argument(
            "set_bootstrap_servers(): the text is blank. Give host and port of a broker, or several with commas "
            "between: 'localhost:9092'."
        )
    return value


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


def needed(there: bool, what: str, call: str, builder: str) -> None:
    """Refuse to build without a required setting.

    Args:
        there: whether it was given.
        what: it is.
        call: gives it.
        builder: whose ``build`` is called.
    """
    if not there:
        checks.refuse(f"{builder}.build(): {what} is missing. Call {call} before.", checks.NULL_POINTER)
