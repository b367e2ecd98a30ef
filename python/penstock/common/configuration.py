"""Configuration: text keys and text values with typed access, as in ``pyflink.common.Configuration``."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, TypeVar

from penstock.common.settings.settings import SECRETS, parsed
from penstock.errors import ConfigurationError

T = TypeVar("T")
Value = str | int | float | bool

_BOOLEANS = {"true": True, "false": False}


class Configuration:
    """A mutable map of settings; every value is kept as text, as in Flink. A known setting is checked when it is set.

    Args:
        other: settings to copy: another configuration, or a mapping of keys to texts, numbers, and truth values.

    Raises:
        ConfigurationError: a key begins with ``penstock.`` and does not exist, or a value is invalid.
        UnsupportedError: a value that Flink has and Penstock does not support.
    """

    __slots__ = ("_originals", "_settings", "_values")

    def __init__(self, other: Configuration | Mapping[str, Value] | None = None) -> None:
        self._values: dict[str, str] = {}
        self._originals: dict[str, Any] = {}
        self._settings: dict[str, Any] = {}
        if isinstance(other, Configuration):
            self._values.update(other._values)
            self._originals.update(other._originals)
            self._settings.update(other._settings)
        elif isinstance(other, Mapping):
            for key, value in other.items():
                self._set(key, _text(key, value))
        elif other is not None:
            raise ConfigurationError(
                f"Configuration({other!r}): settings start from another Configuration or a mapping of keys to values, "
                'such as Configuration({"parallelism.default": "2"}).'
            )

    @classmethod
    def from_dict(cls, map: Mapping[str, Value]) -> Configuration:
        """Settings from a mapping; booleans are written as Flink writes them (true, false)."""
        if not isinstance(map, Mapping):
            raise ConfigurationError(f"from_dict({map!r}): a mapping of keys to values is needed, such as a dict.")
        return cls(map)

    def _set(self, key: str, value: str, original: Value | bytearray | None = None) -> Configuration:
        """Set a text, and keep the object that it was made from."""
        if not isinstance(key, str) or not key:
            raise ConfigurationError(
                f"A configuration key must be a non-empty text, not {key!r}. Give one such as 'parallelism.default'."
            )
        self._settings.update(parsed({key: value}))
        self._values[key] = value
        self._originals[key] = value if original is None else original
        return self

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a text."""
        _check("set_string", key, value, str, "a str. Use set_integer(), set_boolean() …")
        return self._set(key, value)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an integer."""
        _check("set_integer", key, value, int, "an int. Give one")
        return self._set(key, str(value), value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set a boolean."""
        _check("set_boolean", key, value, bool, "a bool. Give True or False")
        return self._set(key, _text(key, value), value)

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a float."""
        _check("set_float", key, value, int | float, "a number. Give one without quotes")
        return self._set(key, repr(float(value)), float(value))

    def set_bytearray(self, key: str, value: bytes | bytearray) -> Configuration:
        """Set bytes; their text is hexadecimal."""
        _check("set_bytearray", key, value, bytes | bytearray, "bytes or a bytearray. Encode it")
        return self._set(key, value.hex(), bytearray(value))

    def get_string(self, key: str, default_value: str) -> str:
        """The text at ``key``, or the default."""
        return self._values.get(key, default_value)

    def get_integer(self, key: str, default_value: int) -> int:
        """The integer at ``key``, or the default; ConfigurationError for another text. So do the other three."""
        return self._parsed(key, default_value, int, "an integer")

    def get_float(self, key: str, default_value: float) -> float:
        """The float at ``key``, or the default."""
        return self._parsed(key, default_value, float, "a number")

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """The boolean at ``key`` (true or false in any case), or the default."""
        return self._parsed(key, default_value, lambda text: _BOOLEANS[text.strip().lower()], "true or false")

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """The bytes at ``key``, as :meth:`set_bytearray` writes them, or the default."""
        return self._parsed(key, default_value, bytearray.fromhex, "a hexadecimal text")

    def _parsed(self, key: str, default_value: T, parse: Callable[[str], T], wanted: str) -> T:
        if key not in self._values:
            return default_value
        text = self._values[key]
        try:
            return parse(text)
        except (ValueError, KeyError):
            raise ConfigurationError(
                f"The setting {key} is {text!r}, but {wanted} is needed there. Set another value."
            ) from None

    @staticmethod
    def parse_list_value(value: str | None) -> list[str]:
        """The texts of a list: ``[one, two]``, ``one;two``, or lines that begin with ``- ``; none of None."""
        text = (value or "").strip()
        lines = text.splitlines()
        if text.startswith("[") and text.endswith("]"):
            items = text[1:-1].split(",")
        elif lines and all(line.lstrip().startswith("- ") for line in lines):
            items = [line.lstrip()[2:] for line in lines]
        else:
            return text.split(";") if text else []
        return [item.strip().strip("'\"") for item in items if item.strip()]

    def contains_key(self, key: str) -> bool:
        """Whether a value is set."""
        return key in self._values

    def remove_config(self, key: str) -> bool:
        """Remove a setting; True when there was one."""
        self._settings.pop(key, None)
        return self._values.pop(key, None) is not None

    def key_set(self) -> set[str]:
        """All keys."""
        return set(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Add all settings of another configuration, with ``prefix`` before their keys."""
        if not isinstance(other, Configuration):
            raise ConfigurationError(f"add_all({other!r}): a Configuration is needed; make one by from_dict().")
        for key, value in other._values.items():
            self._set((prefix or "") + key, value, other._originals[key])
        return self

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Write all settings into a dict: numbers, truth values and bytes as such if they were set as such."""
        target_dict.update({key: self._originals[key] for key in self._values})

    def to_dict(self) -> dict[str, str]:
        """All settings, in order of first setting (a copy)."""
        return dict(self._values)

    @property
    def parsed(self) -> Mapping[str, object]:
        """The values of the texts that are settings of Penstock, by key."""
        return self._settings

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, Configuration) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = {key: "…" if key in SECRETS else value for key, value in self._values.items()}
        return f"Configuration({shown})"


def _check(call: str, key: str, value: object, kind: type | UnionType, wanted: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigurationError(f"{call}({key!r}) was given {value!r}, which is not {wanted}.")


def _text(key: str, value: Value) -> str:
    if not isinstance(value, str | bool | int | float):
        raise ConfigurationError(
            f"The setting {key} was given {value!r}; a value is a text, a number, or a truth value."
        )
    return str(value).lower() if isinstance(value, bool) else str(value)
