"""Settings of formats that PyFlink takes as a Hadoop configuration. Those without a meaning here are refused, because
files are not read and written by Hadoop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.common import Configuration, checks
from penstock.errors import ConfigurationError, UnsupportedError

Readers = Mapping[str, tuple[str, Callable[[str], Any]]]
"""By key: the name of its argument, and the reader of its text."""


def arguments(configuration: Any, known: Readers, call: str, what: str) -> dict[str, Any]:
    """The settings of a configuration as arguments, by the keys that are ``known``. ``what`` is the name of the
    configuration in the call, for messages.

    Raises:
        UnsupportedError: a key has no meaning here.
        ConfigurationError: a value cannot be read.
    """
    if configuration is None:
        return {}
    checks.instance(configuration, call, Configuration, f"Give a Configuration as {what}, or leave it out.")
    found: dict[str, Any] = {}
    for key, text in configuration.to_dict().items():
        if key not in known:
            raise UnsupportedError(
                f"{call}({what}=…) sets {key!r}, which means nothing here: no Hadoop reads or writes the files. "
                f"{f'Known are {sorted(known)}. ' if known else ''}Leave it out."
            )
        name, read = known[key]
        try:
            found[name] = read(text)
        except ValueError as error:
            raise ConfigurationError(f"{call}({what}=…) sets {key!r} to {text!r}. Give {error}.") from error
    return found


def choice(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """The reader of one of the words, in any case; ``values`` are by word in lower case."""

    def chosen(text: str) -> Any:
        if text.lower() in values:
            return values[text.lower()]
        raise ValueError(f"one of {', '.join(values)}")

    return chosen


flag = choice({"true": True, "false": False})


def whole(text: str) -> int:
    """A number above 0."""
    if text.isdecimal() and int(text):
        return int(text)
    raise ValueError("a number above 0")
