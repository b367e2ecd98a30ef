"""What a setting is: a key, the type of its value, a default, a sentence; and the types there are, which read texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from penstock.common.store_options import Stores
from penstock.errors import ConfigurationError, UnsupportedError

OURS = "penstock."
"""Keys that begin like this are ours alone."""

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
    """The type of a setting's value."""

    @property
    def wanted(self) -> str:
        """The values there are, in words, for messages and the table of the documentation."""
        ...

    def parse(self, text: str) -> Any:
        """The value that a text means.

        Raises:
            ValueError: none.
        """
        ...

    def text(self, value: Any) -> str:
        """The shortest text that means a value."""
        ...


class Flag:
    """True or false, in any case."""

    wanted = "true or false"

    def parse(self, text: str) -> bool:
        """See :class:`Kind`."""
        return ("false", "true").index(text.strip().lower()) == 1

    def text(self, value: bool) -> str:
        """See :class:`Kind`."""
        return str(value).lower()


@dataclass(frozen=True)
class Whole:
    """A whole number.

    Attributes:
        low: the smallest.
        high: the largest.
        or_unset: whether -1, too, is a value: nothing is set.
    """

    low: int
    high: int
    or_unset: bool = False

    @property
    def wanted(self) -> str:
        """See :class:`Kind`."""
        return f"a whole number from {self.low} to {self.high}{', or -1' if self.or_unset else ''}"

    def parse(self, text: str) -> int:
        """See :class:`Kind`."""
        if not re.fullmatch(r"\s*-?\d+\s*", text, flags=re.ASCII):  # int() takes 1_000 and other alphabets' digits
            raise ValueError(text)
        value = int(text)
        if self.low <= value <= self.high or (self.or_unset and value == -1):
            return value
        raise ValueError(text)

    def text(self, value: int) -> str:
        """See :class:`Kind`."""
        return str(value)


class Ports:
    """A port or a range of ports, such as ``9250-9260``; the value is a pair of the first and the last."""

    wanted = "a port, or a range of ports such as 9250-9260"

    def parse(self, text: str) -> tuple[int, int]:
        """See :class:`Kind`."""
        found = re.fullmatch(r"\s*([0-9]{1,5})\s*(?:-\s*([0-9]{1,5})\s*)?", text)
        if found is None:
            raise ValueError(text)
        low, high = int(found[1]), int(found[2] or found[1])
        if not 0 <= low <= high <= 65_535:
            raise ValueError(text)
        return low, high

    def text(self, value: tuple[int, int]) -> str:
        """See :class:`Kind`."""
        first, last = value
        return str(first) if first == last else f"{first}-{last}"


@dataclass(frozen=True)
class Span:
    """A duration; the value is in milliseconds.

    Attributes:
        low: the shortest, in milliseconds.
        or_unset: whether -1, too, is a value: nothing is set.
    """

    low: int = 0
    or_unset: bool = False

    @property
    def wanted(self) -> str:
        """See :class:`Kind`."""
        least = f" of {self.low} ms or more" if self.low else ""
        return f"a duration{least}, such as 500 ms or 2 s{', or -1' if self.or_unset else ''}"

    def parse(self, text: str) -> int:
        """See :class:`Kind`."""
        match = re.fullmatch(r"\s*(-?\d+)\s*([a-z]*)\s*", text.lower(), flags=re.ASCII)
        if match is None or match[2] not in _MILLIS:
            raise ValueError(text)
        value = int(match[1]) * _MILLIS[match[2]]
        if value >= self.low or (self.or_unset and value == -1):
            return value
        raise ValueError(text)

    def text(self, value: int) -> str:
        """See :class:`Kind`."""
        return str(value) if value <= 0 else f"{value} ms"


@dataclass(frozen=True)
class Size:
    """A number of bytes.

    Attributes:
        low: the smallest.
    """

    low: int = 0

    @property
    def wanted(self) -> str:
        """See :class:`Kind`."""
        return f"a number of bytes of {self.text(self.low)} or more, such as 64 mb or 2 gb"

    def parse(self, text: str) -> int:
        """See :class:`Kind`."""
        match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower(), flags=re.ASCII)
        if match is None or match[2] not in _BYTES or (value := int(match[1]) * _BYTES[match[2]]) < self.low:
            raise ValueError(text)
        return value

    def text(self, value: int) -> str:
        """See :class:`Kind`."""
        unit = next(unit for unit in ("gb", "mb", "kb", "b") if value % _BYTES[unit] == 0)
        return f"{value // _BYTES[unit]} {unit}"


@dataclass(frozen=True)
class Choice:
    """One of some names, in any case.

    Attributes:
        values: what each name means; of names that mean the same the first is the usual one.
        unsupported: names that Flink knows and we do not support.
    """

    values: Mapping[str, Any]
    unsupported: tuple[str, ...] = ()

    @staticmethod
    def of(*names: str) -> Choice:
        """Names that mean themselves."""
        return Choice({name: name for name in names})

    @property
    def names(self) -> list[str]:
        """The usual name of each value."""
        return [self.text(value) for value in dict.fromkeys(self.values.values())]

    @property
    def wanted(self) -> str:
        """See :class:`Kind`."""
        *others, last = self.names
        return f"{', '.join(others)} or {last}"

    def parse(self, text: str) -> Any:
        """See :class:`Kind`."""
        for name, value in self.values.items():
            if name.lower() == text.strip().lower():
                return value
        raise ValueError(text)

    def text(self, value: Any) -> str:
        """See :class:`Kind`."""
        return next(name for name, each in self.values.items() if each == value)


class Text:
    """Any text."""

    wanted = "a text"

    def parse(self, text: str) -> str:
        """See :class:`Kind`."""
        return text

    def text(self, value: str) -> str:
        """See :class:`Kind`."""
        return value


@dataclass(frozen=True)
class Texts:
    """Texts, as Flink writes a list, such as ``one;two``; the value is a tuple.

    Attributes:
        separator: between two of them.
    """

    separator: str = ";"

    @property
    def wanted(self) -> str:
        """See :class:`Kind`."""
        return f"texts such as one{self.separator}two"

    def parse(self, text: str) -> tuple[str, ...]:
        """See :class:`Kind`."""
        return tuple(each.strip() for each in text.split(self.separator) if each.strip())

    def text(self, value: tuple[str, ...]) -> str:
        """See :class:`Kind`."""
        return self.separator.join(value)


class Files:
    """Files by name, as Flink writes them: ``name:one,path:file:///one,executable:true;name:two,path:/two``; the value
    is a tuple of names, paths, and whether they can be executed."""

    wanted = "files such as name:one,path:file:///one,executable:true;name:two,path:/two"

    def parse(self, text: str) -> tuple[tuple[str, str, bool], ...]:
        """See :class:`Kind`."""
        return tuple(self._file(each) for each in text.split(";") if each.strip())

    def _file(self, text: str) -> tuple[str, str, bool]:
        said = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in text.split(","))}
        if not said.get("name") or not said.get("path") or not said.keys() <= {"name", "path", "executable"}:
            raise ValueError(text)
        return said["name"], said["path"], Flag().parse(said.get("executable", "false"))

    def text(self, value: tuple[tuple[str, str, bool], ...]) -> str:
        """See :class:`Kind`."""
        files = (f"name:{name},path:{path}{',executable:true' if run else ''}" for name, path, run in value)
        return ";".join(files)


class Pairs:
    """Names with texts, as Flink writes a map: ``name:text,name:text``; the value is a tuple of pairs."""

    wanted = "pairs such as name:text,name:text"

    def parse(self, text: str) -> tuple[tuple[str, str], ...]:
        """See :class:`Kind`."""
        pairs = [pair.partition(":") for pair in text.split(",") if pair.strip()]
        if not all(name.strip() and colon for name, colon, _ in pairs):
            raise ValueError(text)
        return tuple((name.strip(), value.strip()) for name, _, value in pairs)

    def text(self, value: tuple[tuple[str, str], ...]) -> str:
        """See :class:`Kind`."""
        return ",".join(f"{name}:{text}" for name, text in value)


@dataclass(frozen=True)
class Setting:
    """One line of the table of settings.

    Attributes:
        key: its name in a configuration.
        kind: the type of its value.
        default: the value when it is not set.
        part: who acts by it.
        doc: one sentence.
        later: the name that later versions of Flink gave it, which is understood too.
    """

    key: str
    kind: Kind
    default: Any
    part: Literal["plan", "runtime", "executor", "steps", "nobody"]
    doc: str
    later: str | None = None

    @property
    def secret(self) -> bool:
        """Whether nobody is to see its value."""
        return isinstance(self.kind, Stores)

    @property
    def keys(self) -> tuple[str, ...]:
        """All its names."""
        return (self.key,) if self.later is None else (self.key, self.later)

    def parse(self, key: str, text: str) -> Any:
        """The value that a text means.

        Args:
            key: which of its names was used.
            text: the value in a configuration.

        Raises:
            ConfigurationError: it means none.
            UnsupportedError: it means one that Flink has and we do not support.
        """
        flink_class = None if key.startswith(OURS) else "java.lang.IllegalArgumentException"
        try:
            return self.kind.parse(text)
        except ValueError:
            pass
        if self.secret:
            raise ConfigurationError(f"The setting {key} is not what it can be: {self.allowed}. {self.doc}")
        if text.strip().lower() in getattr(self.kind, "unsupported", ()):
            raise UnsupportedError(f"The setting {key} is {text!r}, which is not supported; it can be {self.allowed}.")
        raise ConfigurationError(
            f"The setting {key} is {text!r}; it can be {self.allowed}.{self._meant(text)} {self.doc}",
            flink_class=flink_class,
        )

    @property
    def allowed(self) -> str:
        """The values there are and the default, in words."""
        if isinstance(self.kind, Choice) and self.default is not None:
            default = self.kind.text(self.default)
            others = ", ".join(name for name in self.kind.names if name != default)
            return f"{others}, or {default}, which is the default"
        return self.kind.wanted

    def _meant(self, text: str) -> str:
        names = {name.lower(): name for name in getattr(self.kind, "names", ())}
        near = get_close_matches(text.strip().lower(), list(names), 1)
        return f" Did you mean {names[near[0]]!r}?" if near else ""


def line(
    key: str,
    kind: Kind,
    default: Any,
    part: Literal["plan", "runtime", "executor", "steps"],
    doc: str,
    later: str | None = None,
) -> Any:
    """A field of the table of settings; see :class:`Setting` for what is said of it."""
    setting = Setting(key, kind, default, part, doc, later)
    return field(default_factory=lambda: default, metadata={"setting": setting})  # a dict is no default in Python 3.10
