"""Resources of operators and slots."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from penstock.common import checks


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """Resources of one subtask: CPU cores, and MiB of task heap, task off-heap and managed memory; none negative."""

    cpu: float
    heap_mb: int
    off_heap_mb: int = 0
    managed_mb: int = 0

    def __post_init__(self) -> None:
        if min(self.cpu, self.heap_mb, self.off_heap_mb, self.managed_mb) < 0:
            checks.illegal_argument(f"{self} has a negative amount. Every amount is 0 or more.")

    def fits(self, other: ResourceSpec) -> bool:
        """Whether this asks for no more than ``other`` in every respect."""
        return all(mine <= theirs for mine, theirs in zip(self.as_tuple(), other.as_tuple(), strict=True))

    def as_tuple(self) -> tuple[float, int, int, int]:
        """(cpu, heap, off-heap, managed), as the planner takes it."""
        return (float(self.cpu), self.heap_mb, self.off_heap_mb, self.managed_mb)


@dataclass(frozen=True, order=True)
class MemorySize:
    """An amount of memory, 0 or more bytes; ``j_memory_size``, PyFlink's, is another amount to take instead."""

    bytes_size: int = -1
    j_memory_size: InitVar[MemorySize | None] = None

    def __post_init__(self, j_memory_size: MemorySize | None) -> None:
        if j_memory_size is not None:
            object.__setattr__(self, "bytes_size", j_memory_size.bytes_size)
        if checks.integer(self.bytes_size, "MemorySize", "number of bytes") < 0:
            checks.illegal_argument(f"MemorySize({self.bytes_size}): it cannot be negative. Give 0 or more bytes.")

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """An amount in MiB."""
        return MemorySize(checks.integer(mebi_bytes, "MemorySize.of_mebi_bytes", "number of mebibytes") << 20)

    def get_bytes(self) -> int:
        """The amount in bytes."""
        return self.bytes_size

    def get_kibi_bytes(self) -> int:
        """The amount in whole kibibytes."""
        return self.bytes_size >> 10

    def get_mebi_bytes(self) -> int:
        """The amount in whole mebibytes."""
        return self.bytes_size >> 20

    def get_gibi_bytes(self) -> int:
        """The amount in whole gibibytes."""
        return self.bytes_size >> 30

    def get_tebi_bytes(self) -> int:
        """The amount in whole tebibytes."""
        return self.bytes_size >> 40

    def __str__(self) -> str:
        return f"{self.bytes_size} bytes"


@dataclass(frozen=True)
class SlotSharingGroup:
    """A group, made by :meth:`builder`, with what a slot of it needs: CPU cores, memory, and amounts by name, such as
    ``gpu``; None where nothing is said. Two of equal name and needs are equal."""

    name: str
    cpu_cores: float | None = None
    task_heap_memory: MemorySize | None = None
    task_off_heap_memory: MemorySize | None = None
    managed_memory: MemorySize | None = None
    external_resources: tuple[tuple[str, float], ...] = ()

    @staticmethod
    def builder(name: str) -> Builder:
        """Begin a group."""
        return Builder(name)

    @property
    def needs(self) -> bool:
        """Whether resources of a slot are specified."""
        return self != SlotSharingGroup(self.name)

    def get_name(self) -> str:
        """Name of the group."""
        return self.name

    def get_cpu_cores(self) -> float | None:
        """Cores of a slot, None where nothing is said."""
        return self.cpu_cores

    def get_task_heap_memory(self) -> MemorySize | None:
        """Memory for user code, None where nothing is said."""
        return self.task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Memory outside of the heap, None where nothing is said."""
        return self.task_off_heap_memory

    def get_managed_memory(self) -> MemorySize | None:
        """Memory for state and sorting, None where nothing is said."""
        return self.managed_memory

    def get_external_resources(self) -> dict[str, float]:
        """Amounts of other resources by name."""
        return dict(self.external_resources)


@dataclass
class Builder:
    """Makes a SlotSharingGroup. Methods change it and return it."""

    name: str
    _cpu_cores: float | None = None
    _sizes: dict[str, MemorySize] = field(default_factory=dict[str, MemorySize])
    _others: dict[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        checks.name(self.name, "SlotSharingGroup.builder", "group name")

    def set_cpu_cores(self, cpu_cores: float) -> Builder:
        """Cores of a slot, more than 0."""
        self._cpu_cores = _positive(cpu_cores, "set_cpu_cores", "number of cores")
        return self

    def set_task_heap_memory(self, task_heap_memory: MemorySize) -> Builder:
        """Memory for user code, more than 0."""
        return self._size("task_heap_memory", task_heap_memory)

    def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> Builder:
        """Memory for user code in MiB, more than 0."""
        return self._size("task_heap_memory", MemorySize.of_mebi_bytes(task_heap_memory_mb))

    def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> Builder:
        """Memory outside of the heap."""
        return self._size("task_off_heap_memory", task_off_heap_memory)

    def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> Builder:
        """Memory outside of the heap in MiB."""
        return self._size("task_off_heap_memory", MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

    def set_managed_memory(self, managed_memory: MemorySize) -> Builder:
        """Memory for state and sorting."""
        return self._size("managed_memory", managed_memory)

    def set_managed_memory_mb(self, managed_memory_mb: int) -> Builder:
        """Memory for state and sorting in MiB."""
        return self._size("managed_memory", MemorySize.of_mebi_bytes(managed_memory_mb))

    def set_external_resource(self, name: str, value: float) -> Builder:
        """An amount, more than 0, of another resource, such as ``gpu``."""
        checks.text(name, "set_external_resource", "name of a resource")
        self._others[name] = _positive(value, "set_external_resource", f"amount of {name!r}")
        return self

    def _size(self, what: str, size: MemorySize) -> Builder:
        hint = f"Give MemorySize.of_mebi_bytes(100), or call set_{what}_mb()."
        checks.instance(size, f"set_{what}", MemorySize, hint)
        if what == "task_heap_memory" and size.bytes_size == 0:
            checks.illegal_argument("set_task_heap_memory() was given 0 bytes. Give more than 0.")
        self._sizes[what] = size
        return self

    def build(self) -> SlotSharingGroup:
        """The group. If something is said of its needs, both cores and heap memory must be."""
        others = tuple(self._others.items())
        group = SlotSharingGroup(self.name, self._cpu_cores, external_resources=others, **self._sizes)
        if group.needs and (group.cpu_cores is None or group.task_heap_memory is None):
            checks.illegal_argument(
                f"The slot sharing group {self.name!r} specifies resources, but not both cores and heap memory. "
                "Call set_cpu_cores() and set_task_heap_memory_mb(), or neither."
            )
        return group


def _positive(value: float, call: str, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        checks.refuse(f"{call}() was given {checks.shown(value)} as {what}. Give a number.")
    if not value > 0:
        checks.illegal_argument(f"{call}({value}): the {what} is more than 0. Give such a number.")
    return float(value)
