"""A setting: key, type, default, description; and the types, which parse the texts of a configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from penstock.errors import ConfigurationError, UnsupportedError

OURS = "penstock."
"""The prefix of Penstock's own keys."""

_UNITS = {
    1: ("", "ms", "milli", "millis", "millisecond", "milliseconds"),
    1_000: ("s", "sec", "secs", "second", "seconds"),
    60_000: ("m", "min", "minute", "minutes"),
    3_600_000: ("h", "hour", "hours"),
    86_400_000: ("d", "day", "days"),
}
_MILLIS = {name: factor for factor, names in _UNITS.items() for name in names}

_POWERS = (("", "b", "bytes"), ("k", "kb", "kibibytes"), ("m", "mb", "mebibytes"), ("g", "gb", "gibibytes"))
_BYTES = {name: 1 << 10 * power for power, names in enumerate(_POWERS) for name in names}


class Kind(Protocol):
    """The type of a setting's value: its values in words, the parser of a text (ValueError), the text of a value."""

    @property
    def wanted(self) -> str: ...
    def parse(self, text: str) -> Any: ...
    def text(self, value: Any) -> str: ...


class Flag:
    """True or false, in any case."""

    wanted = "true or false"

    def parse(self, text: str) -> bool:
        return ("false", "true").index(text.strip().lower()) == 1

    def text(self, value: bool) -> str:
        return str(value).lower()


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``; with ``or_unset`` also -1, for unset."""

    low: int
    high: int
    or_unset: bool = False

    @property
    def wanted(self) -> str:
        return f"a whole number from {self.low} to {self.high}{', or -1' if self.or_unset else ''}"

    def parse(self, text: str) -> int:
        if not re.fullmatch(r"\s*-?\d+\s*", text, flags=re.ASCII):  # int() takes 1_000 and other alphabets' digits
            raise ValueError(text)
        value = int(text)
        if self.low <= value <= self.high or (self.or_unset and value == -1):
            return value
        raise ValueError(text)

    def text(self, value: int) -> str:
        return str(value)


class Ports:
    """A port or a range of ports, such as ``9250-9260``; the value is the pair of the first and the last."""

    wanted = "a port, or a range of ports such as 9250-9260"

    def parse(self, text: str) -> tuple[int, int]:
        match = re.fullmatch(r"\s*([0-9]{1,5})\s*(?:-\s*([0-9]{1,5})\s*)?", text)
        if match is None:
            raise ValueError(text)
        low, high = int(match[1]), int(match[2] or match[1])
        if not 0 <= low <= high <= 65_535:
            raise ValueError(text)
        return low, high

    def text(self, value: tuple[int, int]) -> str:
        first, last = value
        return str(first) if first == last else f"{first}-{last}"


@dataclass(frozen=True)
class Span:
    """A duration in milliseconds, at least ``low``; with ``or_unset`` also -1, for unset."""

    low: int = 0
    or_unset: bool = False

    @property
    def wanted(self) -> str:
        least = f" of {self.low} ms or more" if self.low else ""
        return f"a duration{least}, such as 500 ms or 2 s{', or -1' if self.or_unset else ''}"

    def parse(self, text: str) -> int:
        match = re.fullmatch(r"\s*(-?\d+)\s*([a-z]*)\s*", text.lower(), flags=re.ASCII)
        if match is None or match[2] not in _MILLIS:
            raise ValueError(text)
        value = int(match[1]) * _MILLIS[match[2]]
        if value >= self.low or (self.or_unset and value == -1):
            return value
        raise ValueError(text)

    def text(self, value: int) -> str:
        return str(value) if value <= 0 else f"{value} ms"


@dataclass(frozen=True)
class Size:
    """A number of bytes, at least ``low``."""

    low: int = 0

    @property
    def wanted(self) -> str:
        return f"a number of bytes of {self.text(self.low)} or more, such as 64 mb or 2 gb"

    def parse(self, text: str) -> int:
        match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower(), flags=re.ASCII)
        if match is None or match[2] not in _BYTES or (value := int(match[1]) * _BYTES[match[2]]) < self.low:
            raise ValueError(text)
        return value

    def text(self, value: int) -> str:
        unit = next(unit for unit in ("gb", "mb", "kb", "b") if value % _BYTES[unit] == 0)
        return f"{value // _BYTES[unit]} {unit}"


@dataclass(frozen=True)
class Choice:
    """One of some names, in any case; the first name of a value is its usual one."""

    values: Mapping[str, Any]
    unsupported: tuple[str, ...] = ()

    @staticmethod
    def of(*names: str) -> Choice:
        """Names whose values are the names themselves."""
        return Choice({name: name for name in names})

    @property
    def names(self) -> list[str]:
        return [self.text(value) for value in dict.fromkeys(self.values.values())]

    @property
    def wanted(self) -> str:
        *others, last = self.names
        return f"{', '.join(others)} or {last}"

    def parse(self, text: str) -> Any:
        for name, value in self.values.items():
            if name.lower() == text.strip().lower():
                return value
        raise ValueError(text)

    def text(self, value: Any) -> str:
        return next(name for name, named in self.values.items() if named == value)


class Text:
    """Any text."""

    wanted = "a text"

    def parse(self, text: str) -> str:
        return text

    def text(self, value: str) -> str:
        return value


class Backend:
    """A state backend of Flink, by its name or that of its factory; the value is the place of its state here."""

    wanted = "a text"

    def parse(self, text: str) -> Literal["memory", "disk"]:
        return "disk" if "rocksdb" in text.lower() else "memory"

    def text(self, value: Literal["memory", "disk"]) -> str:
        return "rocksdb" if value == "disk" else "hashmap"


@dataclass(frozen=True)
class Texts:
    """A list of texts in Flink's notation, such as ``one;two``; the value is a tuple."""

    separator: str = ";"

    @property
    def wanted(self) -> str:
        return f"texts such as one{self.separator}two"

    def parse(self, text: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in text.split(self.separator) if part.strip())

    def text(self, value: tuple[str, ...]) -> str:
        return self.separator.join(value)


class Files:
    """Named files in Flink's notation, as in ``wanted``; the value is a tuple of (name, path, executable)."""

    wanted = "files such as name:one,path:file:///one,executable:true;name:two,path:/two"

    def parse(self, text: str) -> tuple[tuple[str, str, bool], ...]:
        return tuple(self._file(part) for part in text.split(";") if part.strip())

    def _file(self, text: str) -> tuple[str, str, bool]:
        file = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in text.split(","))}
        if not file.get("name") or not file.get("path") or not file.keys() <= {"name", "path", "executable"}:
            raise ValueError(text)
        return file["name"], file["path"], Flag().parse(file.get("executable", "false"))

    def text(self, value: tuple[tuple[str, str, bool], ...]) -> str:
        files = (f"name:{name},path:{path}{',executable:true' if run else ''}" for name, path, run in value)
        return ";".join(files)


class Pairs:
    """A map in Flink's notation, ``name:text,name:text``; the value is a tuple of pairs."""

    wanted = "pairs such as name:text,name:text"

    def parse(self, text: str) -> tuple[tuple[str, str], ...]:
        pairs = [pair.partition(":") for pair in text.split(",") if pair.strip()]
        if not all(name.strip() and colon for name, colon, _ in pairs):
            raise ValueError(text)
        return tuple((name.strip(), value.strip()) for name, _, value in pairs)

    def text(self, value: tuple[tuple[str, str], ...]) -> str:
        return ",".join(f"{name}:{text}" for name, text in value)


STORES = ("s3", "gs", "abfs", "hdfs", "memory")
"""The schemes of stores that can have options."""


class Secrets(dict[str, dict[str, Any]]):
    """Options by scheme. They may be passwords, so ``repr`` hides them. Never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(json.dumps(self, sort_keys=True))

    def __repr__(self) -> str:
        return f"<options for {', '.join(sorted(self)) or 'nothing'}>"


class Stores:
    """Options for stores as JSON: ``{"s3": {"endpoint_url": "http://host:9000"}}``. No message shows the text."""

    wanted = 'options of fsspec by scheme, as JSON, such as {"s3": {"endpoint_url": "http://host:9000"}}'

    def parse(self, text: str) -> Secrets:
        document: Any = json.loads(text)  # its error is a ValueError
        if not isinstance(document, dict):
            raise ValueError
        options: dict[Any, Any] = document  # type: ignore[reportUnknownVariableType]
        if not all(scheme in STORES and isinstance(of_scheme, dict) for scheme, of_scheme in options.items()):
            raise ValueError
        return Secrets(options)

    def text(self, value: Secrets) -> str:
        return json.dumps(value)


@dataclass(frozen=True)
class Setting:
    """One setting."""

    key: str
    kind: Kind
    default: Any
    part: Literal["plan", "runtime", "executor", "steps", "nobody"]  # the part of Penstock that uses it
    doc: str  # a description in one or two sentences
    others: tuple[str, ...] = ()  # names that other versions of Flink have for it
    retired: tuple[str, ...] = ()  # its old names; using one gives a warning
    internal: bool = False  # whether it is for tests and measurements only, and not on the page of settings

    @property
    def secret(self) -> bool:
        return isinstance(self.kind, Stores)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *self.others, *self.retired)

    def parse(self, key: str, text: str) -> Any:
        """The value of a text that a configuration has for one of the names."""
        try:
            return self.kind.parse(text)
        except ValueError:
            pass
        if self.secret:
            raise ConfigurationError(f"The setting {key} has an invalid value; it can be {self.allowed}. {self.doc}")
        if text.strip().lower() in getattr(self.kind, "unsupported", ()):
            raise UnsupportedError(f"The setting {key} is {text!r}, which is not supported; it can be {self.allowed}.")
        names = {name.lower(): name for name in getattr(self.kind, "names", ())}
        near = get_close_matches(text.strip().lower(), list(names), 1)
        meant = f" Did you mean {names[near[0]]!r}?" if near else ""
        raise ConfigurationError(
            f"The setting {key} is {text!r}; it can be {self.allowed}.{meant} {self.doc}",
            flink_class=None if key.startswith(OURS) else "java.lang.IllegalArgumentException",
        )

    @property
    def allowed(self) -> str:
        if isinstance(self.kind, Choice) and self.default is not None:
            default = self.kind.text(self.default)
            others = ", ".join(name for name in self.kind.names if name != default)
            return f"{others}, or {default}, which is the default"
        return self.kind.wanted


def line(
    key: str,
    kind: Kind,
    default: Any,
    part: Literal["plan", "runtime", "executor", "steps"],
    doc: str,
    *others: str,
    retired: tuple[str, ...] = (),
    internal: bool = False,
) -> Any:
    """A field of the dataclass of settings; see :class:`Setting` for the arguments."""
    setting = Setting(key, kind, default, part, doc, others, retired, internal)
    return field(default_factory=lambda: default, metadata={"setting": setting})  # a dict is no default in Python 3.10
