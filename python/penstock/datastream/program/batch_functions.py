"""Functions of batches: the form that a function takes its batches in, by its annotation or by ``batch_format``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NoReturn, cast, get_args, get_origin

from penstock.common import checks
from penstock.common.typeinfo import ArrayTypeInfo, ListTypeInfo, TypeInformation
from penstock.errors import UnsupportedError
from penstock.runtime.columns.forms import LIBRARIES, BatchForm, Library, Shape, has_fields, table_type

_SHAPES: dict[tuple[str, str], tuple[Library, Shape]] = {
    ("pyarrow", "RecordBatch"): ("arrow", "table"),
    ("pyarrow", "Array"): ("arrow", "column"),
    ("pandas", "DataFrame"): ("pandas", "table"),
    ("pandas", "Series"): ("pandas", "column"),
    ("polars", "DataFrame"): ("polars", "table"),
    ("polars", "Series"): ("polars", "column"),
    ("numpy", "ndarray"): ("numpy", "column"),
    ("numpy", "NDArray"): ("numpy", "column"),
}
_USUAL = {"pa": "pyarrow", "pd": "pandas", "pl": "polars", "np": "numpy", "npt": "numpy"}
"""The names under which programs import the libraries, for annotations whose import is for type checkers only."""
_FORMS = "pa.RecordBatch, pa.Array, pandas.DataFrame, pandas.Series, polars.DataFrame, polars.Series or numpy.ndarray"
_PATH = re.compile(r"(?:(\w+)\.)?(?:\w+\.)*(\w+)(?:\[(.*)\])?")


def annotated(func: Any, method: str) -> BatchForm | None:
    """The form in which a function, or the method of a function object, wants its first argument, by its annotation;
    None if that is not one of a batch."""
    function = getattr(func, method, func)
    skipped = 0
    while isinstance(function, partial):
        skipped += len(function.args)
        function = cast("partial[Any]", function).func
    if not isinstance(function, FunctionType | MethodType):
        function = getattr(cast("Any", function).__call__, "__func__", None) if callable(function) else None
        skipped += 1
    elif isinstance(function, MethodType):
        function = function.__func__
        skipped += 1
    if not isinstance(function, FunctionType):
        return None
    notes = _annotations(function)
    names = function.__code__.co_varnames[skipped : function.__code__.co_argcount]
    return _form(notes[names[0]], function) if notes and names and names[0] in notes else None


def _annotations(function: FunctionType) -> Mapping[str, Any]:
    try:
        return function.__annotations__
    except NameError:  # from Python 3.14 on, where a name is imported for type checkers only
        import annotationlib  # pyright: ignore[reportMissingImports]

        return annotationlib.get_annotations(function, format=annotationlib.Format.STRING)  # pyright: ignore


def _form(note: Any, function: FunctionType) -> BatchForm | None:
    if isinstance(note, str):
        return _of_text(note.strip().strip("\"'"), function)
    origin = get_origin(note)
    if origin in (dict, Mapping):
        arguments = get_args(note)
        return _columns(_form(arguments[1], function)) if len(arguments) == 2 else None
    cls = origin or note
    if not isinstance(cls, type) or cls.__module__ == "builtins":
        return None
    for base in cls.__mro__:
        known = _SHAPES.get((base.__module__.partition(".")[0], base.__name__))
        if known is not None:
            return BatchForm(*known)
    return None


def _of_text(note: str, function: FunctionType) -> BatchForm | None:
    """The form of an annotation that is a text. Names that the function's module does not have are the usual ones."""
    match = _PATH.fullmatch(note)
    if match is None:
        return None
    first, name, arguments = match.groups()
    if name in ("dict", "Dict", "Mapping"):
        _, comma, values = (arguments or "").partition(",")
        return _columns(_of_text(values.strip(), function)) if comma else None
    if first is None:
        cls = function.__globals__.get(name)
        if cls is not None:
            return _form(cls, function) if not isinstance(cls, str) else None
        return BatchForm("arrow", "table") if name == "RecordBatch" else None
    module = function.__globals__.get(first)
    root = getattr(module, "__name__", _USUAL.get(first, first)).partition(".")[0]
    if root == "pyarrow" and name.endswith("Array") and name != "ChunkedArray":
        name = "Array"
    known = _SHAPES.get((root, name))
    return None if known is None else BatchForm(*known)


def _columns(form: BatchForm | None) -> BatchForm | None:
    return BatchForm(form.library, "columns") if form is not None and form.shape == "column" else None


def wants_batches(func: Any, method: str, input_type: TypeInformation[Any] | None) -> bool:
    """Whether map(), filter() and flat_map() hand a function batches: its annotation says so, and the records cannot be
    such objects themselves, by their declared type."""
    if type(func) is FunctionType and not _noted(func):
        return False
    if not checks.declared(input_type) or isinstance(input_type, ListTypeInfo | ArrayTypeInfo):
        return False
    return annotated(func, method) is not None


def _noted(func: FunctionType) -> bool:
    return bool(func.__annotations__) if sys.version_info < (3, 14) else func.__annotate__ is not None  # pyright: ignore


def form_of(func: Any, call: str, method: str, batch_format: Any, input_type: TypeInformation[Any] | None) -> BatchForm:
    """The form of a function's batches; InvalidProgramError if there is none, or the input is not declared."""
    if not checks.declared(input_type):
        checks.refuse(
            f"{call}() was called on a stream of undeclared type, and the columns of its batches are those of the "
            "declared type. Declare it where the records are made: map(…, output_type=Types.TUPLE([…])), or "
            "type_info= of the source."
        )
    _columns_of(input_type, call, "input")
    form = annotated(func, method)
    if batch_format is not None:
        if batch_format not in LIBRARIES:
            checks.refuse(
                f"{call}() was given {checks.shown(batch_format)} as batch_format. Give one of {', '.join(LIBRARIES)}."
            )
        if form is not None and form.library != batch_format:
            checks.refuse(
                f"{call}() was given batch_format={batch_format!r}, but {checks.shown(func)} is annotated with {form}. "
                "Change one of the two."
            )
    if form is None:
        form = BatchForm(batch_format or "arrow", "table" if has_fields(input_type) else "column")
    if form == BatchForm("numpy", "column") and has_fields(input_type):
        return BatchForm("numpy", "table")
    if form == BatchForm("pandas", "column") and has_fields(input_type):
        checks.refuse(
            f"{call}() was given a function of a pandas.Series, but the records, {input_type!r}, have fields. Annotate "
            "it with pandas.DataFrame, or with dict[str, pandas.Series]."
        )
    return form


def results_of(output_type: TypeInformation[Any] | None, call: str) -> TypeInformation[Any]:
    """The declared type of the results; InvalidProgramError if there is none."""
    declared = checks.type_info(output_type, call)
    if not checks.declared(declared):
        checks.refuse(
            f"{call}() needs the type of its results, which the columns that the function returns are cast to. Give "
            "output_type=Types.TUPLE([…]), or the type of a plain value such as Types.LONG()."
        )
    _columns_of(declared, call, "output")
    return declared


def _columns_of(type_info: TypeInformation[Any], call: str, side: str) -> None:
    try:
        table_type(type_info)
    except UnsupportedError as error:
        _no_columns(type_info, call, side, error)


def _no_columns(type_info: TypeInformation[Any], call: str, side: str, error: UnsupportedError) -> NoReturn:
    raise UnsupportedError(
        f"{call}() cannot have {type_info!r} as the type of its {side}: a part of it has no Arrow type. Use types of "
        "single values, lists, maps, rows and tuples of them."
    ) from error


def size_of(batch_size: Any, call: str) -> int | None:
    """The size of batches that a call was given; None for the setting's."""
    return None if batch_size is None else checks.positive(batch_size, call, "batch_size")
