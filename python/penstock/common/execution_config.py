"""ExecutionConfig: settings of a program in one object. Source of the names: ``pyflink.common.ExecutionConfig``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.common import checks
from penstock.common.restart_strategy import RestartStrategyConfiguration
from penstock.common.settings import hints
from penstock.common.settings.setting import Setting
from penstock.common.settings.settings import Settings
from penstock.errors import MissingMethodError

_Self = TypeVar("_Self", bound="ExecutionConfig")

_RECORDS = "Records are Python objects, so there are no serializers to choose. Leave the call out, and declare types"

MISSING = {
    "add_default_kryo_serializer": _RECORDS,
    "disable_auto_type_registration": _RECORDS,
    "disable_sysout_logging": "Nothing is logged to standard output. Leave the call out",
    "enable_sysout_logging": "Read what a job has measured in the JobExecutionResult of execute()",
    "get_execution_mode": "Use get_stream_graph() of the environment, whose edges have exchange modes",
    "get_number_of_execution_retries": "Use get_restart_strategy()",
    "register_kryo_type": _RECORDS,
    "register_pojo_type": _RECORDS,
    "register_type_with_kryo_serializer": _RECORDS,
    "set_default_input_dependency_constraint": "A task starts when all its inputs are there. Leave the call out",
    "set_execution_mode": "Use set_runtime_mode() of the environment",
    "set_number_of_execution_retries": "Use set_restart_strategy()",
}
"""Methods of other versions of PyFlink, with what to do instead."""


class _Program(Protocol):
    settings: Settings

    def set_parallelism(self, parallelism: int) -> object: ...
    def set_max_parallelism(self, max_parallelism: int) -> object: ...
    def set_restart_strategy(self, restart_strategy: RestartStrategyConfiguration) -> object: ...


def _keeps(hint: Setting, value: object) -> Callable[[_Self], _Self]:
    """The method that keeps a value, which means nothing here."""

    def keep(self: _Self) -> _Self:
        self._program.settings = self._program.settings.hinted(hint, value)  # pyright: ignore[reportPrivateUsage]
        return self

    return keep


def _kept(hint: Setting) -> Callable[[ExecutionConfig], Any]:
    """The method that gives back what was kept."""

    def kept(self: ExecutionConfig) -> Any:
        return self._program.settings.hint(hint)  # pyright: ignore[reportPrivateUsage]

    return kept


class ExecutionConfig:
    """The settings of a program, as ``get_config()`` of its environment gives them: what is set here counts for the
    program as if its environment's own methods had set it. Serializers, the closure cleaner and the end of Flink's
    tasks mean nothing here: such settings are kept and given back."""

    PARALLELISM_DEFAULT = -1  # leaves the parallelism to the system
    PARALLELISM_UNKNOWN = -2  # no parallelism of a program

    __slots__ = ("_program",)

    def __init__(self, program: _Program) -> None:
        self._program = program

    if not TYPE_CHECKING:  # checkers shall see what is missing

        def __getattr__(self, name: str) -> Any:
            if name not in MISSING:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise MissingMethodError(f"ExecutionConfig has no method {name!r}. {MISSING[name]}.", name=name)

    def _set(self: _Self, **values: Any) -> _Self:
        self._program.settings = replace(self._program.settings, **values)
        return self

    def set_parallelism(self: _Self, parallelism: int) -> _Self:
        """Parallelism of operators added from now on: at least 1, or −1 to leave it open."""
        self._program.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Parallelism of operators added from now on."""
        return self._program.settings.parallelism

    def set_max_parallelism(self: _Self, max_parallelism: int) -> _Self:
        """Max parallelism of all operators without their own: 1 to 32768 key groups."""
        self._program.set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Max parallelism of operators without their own, −1 when unset."""
        return self._program.settings.max_parallelism

    def set_auto_watermark_interval(self: _Self, interval: int) -> _Self:
        """0: a periodic watermark generator is asked at the end of the input only. All other milliseconds mean the
        same: it is asked after numbers of records, so that results do not depend on the clock."""
        return self._set(watermark_interval=checks.at_least(0, interval, "set_auto_watermark_interval", "milliseconds"))

    def get_auto_watermark_interval(self) -> int:
        """The interval in milliseconds."""
        return self._program.settings.watermark_interval

    def set_latency_tracking_interval(self: _Self, interval: int) -> _Self:
        """Milliseconds between two latency markers of a source; 0 for none."""
        return self._set(latency_interval=checks.at_least(0, interval, "set_latency_tracking_interval", "milliseconds"))

    def get_latency_tracking_interval(self) -> int:
        """The interval in milliseconds."""
        return self._program.settings.latency_interval

    def enable_object_reuse(self: _Self) -> _Self:
        """Let the operators of a chain hand records on without a copy."""
        return self._set(object_reuse=True)

    def disable_object_reuse(self: _Self) -> _Self:
        """Let the operators of a chain copy records where somebody could change them. The default."""
        return self._set(object_reuse=False)

    def is_object_reuse_enabled(self) -> bool:
        """Whether the operators of a chain hand records on without a copy."""
        return self._program.settings.object_reuse

    def set_global_job_parameters(self: _Self, global_job_parameters_dict: dict[str, str]) -> _Self:
        """Parameters that functions read by ``get_job_parameter`` of their context; values are written as texts."""
        hint = "Give a dict of names and texts, such as {'limit': '5'}."
        checks.instance(global_job_parameters_dict, "set_global_job_parameters", dict, hint)
        return self._set(parameters=tuple((str(k), str(v)) for k, v in global_job_parameters_dict.items()))

    def get_global_job_parameters(self) -> dict[str, str]:
        """The parameters (a copy)."""
        return dict(self._program.settings.parameters)

    def enable_auto_generated_uids(self: _Self) -> _Self:
        """Let operators without a uid have an ID made from the plan. The default."""
        return self._set(generated_uids=True)

    def disable_auto_generated_uids(self: _Self) -> _Self:
        """Refuse to plan a program with an operator that has neither uid nor uid hash."""
        return self._set(generated_uids=False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Whether operators may do without a uid."""
        return self._program.settings.generated_uids

    def set_restart_strategy(self: _Self, restart_strategy_configuration: RestartStrategyConfiguration) -> _Self:
        """The strategy for a job that fails; see ``set_restart_strategy`` of the environment."""
        self._program.set_restart_strategy(restart_strategy_configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """The strategy for a job that fails."""
        return self._program.settings.restart

    enable_closure_cleaner = _keeps(hints.CLOSURE_CLEANER, "RECURSIVE")
    disable_closure_cleaner = _keeps(hints.CLOSURE_CLEANER, "NONE")
    enable_force_kryo = _keeps(hints.FORCE_KRYO, True)
    disable_force_kryo = _keeps(hints.FORCE_KRYO, False)
    is_force_kryo_enabled = _kept(hints.FORCE_KRYO)
    enable_force_avro = _keeps(hints.FORCE_AVRO, True)
    disable_force_avro = _keeps(hints.FORCE_AVRO, False)
    is_force_avro_enabled = _kept(hints.FORCE_AVRO)
    enable_generic_types = _keeps(hints.GENERIC_TYPES, True)
    disable_generic_types = _keeps(hints.GENERIC_TYPES, False)
    get_task_cancellation_interval = _kept(hints.CANCELLATION_INTERVAL)
    get_task_cancellation_timeout = _kept(hints.CANCELLATION_TIMEOUT)
    is_use_snapshot_compression = _kept(hints.SNAPSHOT_COMPRESSION)

    def is_closure_cleaner_enabled(self) -> bool:
        """The setting; True at first."""
        return self._program.settings.hint(hints.CLOSURE_CLEANER) != "NONE"

    def has_generic_types_disabled(self) -> bool:
        """The setting; False at first. Undeclared types are pickled, which are not generic types in Flink either."""
        return not self._program.settings.hint(hints.GENERIC_TYPES)

    def set_task_cancellation_interval(self: _Self, interval: int) -> _Self:
        """Kept. On Spark ``spark.python.task.killTimeout`` says how long a cancelled task may go on."""
        value = checks.at_least(0, interval, "set_task_cancellation_interval", "milliseconds")
        return _keeps(hints.CANCELLATION_INTERVAL, value)(self)

    def set_task_cancellation_timeout(self: _Self, timeout: int) -> _Self:
        """Kept; see :meth:`set_task_cancellation_interval`."""
        return _keeps(
            hints.CANCELLATION_TIMEOUT, checks.at_least(0, timeout, "set_task_cancellation_timeout", "milliseconds")
        )(self)

    def set_use_snapshot_compression(self: _Self, use_snapshot_compression: bool) -> _Self:
        """Kept. No snapshots are taken."""
        kept = checks.boolean(use_snapshot_compression, "set_use_snapshot_compression", "use_snapshot_compression")
        return _keeps(hints.SNAPSHOT_COMPRESSION, kept)(self)

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """None: records are Python objects."""
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        """None: records are Python objects."""
        return []

    get_registered_pojo_types = get_registered_kryo_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionConfig) and self._program.settings == other._program.settings

    def __hash__(self) -> int:
        return hash((self.get_parallelism(), self.get_max_parallelism()))  # it changes with them, as in Flink

    def __repr__(self) -> str:
        return f"<ExecutionConfig parallelism={self.get_parallelism()}>"
