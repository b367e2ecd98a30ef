"""Checks of a savepoint before anything is done with it: it may come from anywhere, and names of files lead
nowhere but into its own folder."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from penstock.job.folder.manifest import OperatorState, Pickled, StepManifest
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.state.files import Header

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_STATE = re.compile(r"[0-9a-f]{32}-[-.\w]{1,200}", re.ASCII)
_ENDED = re.compile(r"ended-[0-9a-f]{32}", re.ASCII)
_MOST = 1 << 15  # subtasks or key groups of an operator
_COUNTED = {field.name for field in fields(SubtaskMetrics)} - {"operator_id", "name", "user"}
_ALWAYS = {"records_in", "records_out", "late_dropped", "input_watermark", "output_watermark"}


def _need(holds: bool, what: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{what} is {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _text(value: object, what: str) -> None:
    _need(type(value) is str, what, value)


def _whole(value: object, what: str, least: int = 0, most: float = math.inf) -> None:
    _need(type(value) is int and least <= value <= most, what, value)


def _fits(pattern: re.Pattern[str], value: object, what: str) -> None:
    _need(type(value) is str and pattern.fullmatch(value) is not None, what, value)


def check_fields(value: Any, where: str) -> None:
    """The fields of a dataclass, and of those in it, are of their declared types; no number is negative."""
    for name, kind in _hints(type(value)).items():
        _check(getattr(value, name), kind, f"{where}.{name}")


_hints = cache(get_type_hints)


def _check(value: Any, kind: Any, where: str) -> None:
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is UnionType:  # something or None
        if value is not None:
            _check(value, kinds[0], where)
    elif origin is tuple:
        _need(type(value) is tuple, where, value)
        for part in value:
            _check(part, kinds[0], f"{where}[...]")
    elif origin is Mapping:
        _need(isinstance(value, Mapping), where, value)
        for key, part in value.items():
            _text(key, f"a key of {where}")
            _check(part, kinds[1], f"{where}[{_short(key)}]")
    elif is_dataclass(kind):
        _need(type(value) is kind, where, value)
        check_fields(value, where)
    elif kind is int:
        _whole(value, where)
    else:
        _need(kind is Any or type(value) is kind, where, value)


def check_manifest(manifest: StepManifest) -> None:
    """All that a manifest says is of the kind that it should be. Linear in it."""
    check_fields(manifest, "its state")
    _need(not manifest.outputs and not manifest.retained and not manifest.sealed, "what waits for its job", "not empty")
    for operator_id, operator in manifest.operators.items():
        _operator(operator_id, operator)
    for operator_id, source in manifest.sources.items():
        _fits(_ID, operator_id, "the ID of a source")
        for position in (at for at in source.positions.values() if type(at) is not Pickled):
            _need(type(position) is list and len(position) == 2, f"a position of source {operator_id}", position)
            _whole(position[0], f"the subtask of a position of source {operator_id}")
        for file in source.ended.files:
            _fits(_ENDED, file.name, f"the name of a file with splits of source {operator_id}")
    for operator_id, counters in manifest.counters.items():
        _counters(operator_id, counters)
    seen: dict[str, StateFile] = {}
    for file in manifest.state_files():
        _need(seen.setdefault(file.name, file) == file, "what is said twice of a file", file.name)


def _operator(operator_id: str, operator: OperatorState) -> None:
    where = f"of operator {operator_id}"
    _fits(_ID, operator_id, "the ID of an operator")
    _whole(operator.parallelism, f"the parallelism {where}", 1, _MOST)
    _whole(operator.max_parallelism, f"the max parallelism {where}", 1, _MOST)
    files = operator.subtasks
    _need(len(files) == operator.parallelism, f"the number of subtasks with files {where}", files)
    for series in operator.subtasks:
        for file in series:
            _fits(_STATE, file.name, f"the name of a file {where}")
            _fits(_ID, file.checksum, f"the checksum of a file {where}")
        kinds = [file.kind for file in series]
        _need(kinds[:1] in ([], ["snapshot"]), f"the first file of a series {where}", kinds[:1])
        _need(all(kind == "log" for kind in kinds[1:]), f"the kind of files {where}", kinds)


def check_header(header: Header, groups: int) -> None:
    """The values in the header of a state file have the right types, and its sections are in the file."""
    for info in header.states:
        for value in (info.name, info.kind, *info.types, *info.serializers):
            _text(value, "what is said of a state")
    _classes(header.classes)
    if header.key is not None:
        _need(
            len(header.key) == 2 and all(type(name) is str for name in header.key), "the type of its keys", header.key
        )
    for timers in header.timers:
        _whole(timers.count, "the number of its timers")
    for part in header.sections:
        for value in (part.first, part.last, part.crc32):
            _whole(value, "a number of a section")
        _need(part.first <= part.last < groups, "a section", part)
    for part in (*header.sections, *(() if header.operator_state is None else (header.operator_state,))):
        _whole(part.offset, "the place of a section")
        _whole(part.bytes, "the length of a section")


def _classes(forms: Any) -> None:
    what = "what is said of classes"
    _need(type(forms) is dict, what, forms)
    for form in forms.values():
        _need(type(form) is dict and type(form.get("kind")) is str, what, form)
        fields, named = form.get("fields", []), [*_list(form, "members"), *_list(form, "texts")]
        _need(type(fields) is list and all(type(name) is str for name in fields), what, form)
        _need(all(type(pair) is list and len(pair) == 2 and type(pair[0]) is str for pair in named), what, form)
        _need(type(form.get("python", "")) is str, what, form)


def _list(form: dict[str, Any], name: str) -> list[Any]:
    entries = form.get(name, [])
    _need(type(entries) is list, "what is said of classes", form)
    return entries


def _counters(operator_id: str, counters: Sequence[Mapping[str, Any]]) -> None:
    for known in counters:
        numbers, user = {key: value for key, value in known.items() if key != "user"}, known.get("user", {})
        _need(not known or _ALWAYS <= numbers.keys() <= _COUNTED, f"what is counted of {operator_id}", list(numbers))
        for name, value in (*numbers.items(), *user.items()):
            _need(type(value) in (int, float), f"{name!r} of {operator_id}", value)
