"""Pickling of user code, once, on the driver.

Functions and classes go by value when an executor could not import their module: those of the program itself
(``__main__``) and of modules that are not found on the path by their name.
"""

from __future__ import annotations

import importlib.machinery
import io
import sys
from types import FunctionType
from typing import Any

import cloudpickle

from penstock.errors import InvalidProgramError
from penstock.job.captures import culprit, is_sparks


def pickle_operator(operator: Any, name: str) -> bytes:
    """Bytes of an operator or partitioner.

    Args:
        operator: what to pickle.
        name: of the operator, for the error.

    Raises:
        InvalidProgramError: something inside cannot be pickled.
    """
    target = io.BytesIO()
    try:
        _Pickler(target, protocol=5).dump(operator)
    except Exception as error:
        first_line = str(error).strip().split("\n")[0].rstrip(".")
        raise InvalidProgramError(
            f"The function of operator {name!r} cannot be sent to the executors: {type(error).__name__}: "
            f"{first_line}. {_advice(operator, error)}",
            flink_class="org.apache.flink.api.common.InvalidProgramException",
        ) from error
    return target.getvalue()


def _advice(operator: Any, error: BaseException) -> str:
    try:
        path, part = culprit(operator, _picklable)
    except Exception:  # an object that does not let itself be looked at
        path, part = "", None
    what = f"{path} ({type(part).__name__})" if path else ""
    text = f"{type(error).__name__}: {error}"
    if is_sparks(part) or "Spark" in text or "CONTEXT_ONLY_VALID_ON_DRIVER" in text:
        return (
            f"It captures {what or 'a SparkSession, SparkContext or DataFrame'}; what belongs to Spark can exist on "
            "the driver only. Collect what the function needs into plain Python values before."
        )
    return (
        f"It captures {what or 'an object'}, which cannot be pickled; open files, locks and connections cannot. "
        "Create it in the function's open() method, which runs on the executor."
    )


def _picklable(value: Any) -> bool:
    try:
        _Pickler(io.BytesIO(), protocol=5).dump(value)
    except Exception:
        return False
    return True


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle that sends by value what an executor cannot import."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (type, FunctionType)):
            _by_value_if_unreachable(getattr(obj, "__module__", None))
        return super().reducer_override(obj)


_seen: set[str] = set()


def _by_value_if_unreachable(module: str | None) -> None:
    if module is None or module in _seen or module == "__main__" or module not in sys.modules:
        return
    _seen.add(module)
    if not _importable(module):
        cloudpickle.register_pickle_by_value(sys.modules[module])


def _importable(module: str) -> bool:
    """Whether another process with the same path finds the module by its name."""
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names:
        return True
    name, path = top, None
    for part in (None, *rest):
        name = name if part is None else f"{name}.{part}"
        try:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
        except (ImportError, AttributeError, ValueError):
            return False
        if spec is None:
            return False
        path = spec.submodule_search_locations
        if path is None:  # a plain module; what it calls its submodules it makes itself
            return True
    return True
