"""ResourceSpec: what an operator asks of its slot."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.checks import illegal_argument


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """Resources of one subtask.

    Attributes:
        cpu: cores, a positive number.
        heap_mb: task heap memory in MiB.
        off_heap_mb: task off-heap memory in MiB.
        managed_mb: managed memory in MiB.

    Raises:
        InvalidProgramError: a negative amount (Flink: IllegalArgumentException).
    """

    cpu: float
    heap_mb: int
    off_heap_mb: int = 0
    managed_mb: int = 0

    def __post_init__(self) -> None:
        if min(self.cpu, self.heap_mb, self.off_heap_mb, self.managed_mb) < 0:
            illegal_argument(f"{self} has a negative amount. Every amount is 0 or more.")

    def fits(self, other: ResourceSpec) -> bool:
        """Whether this asks for no more than ``other`` in every respect."""
        return all(mine <= theirs for mine, theirs in zip(self.as_tuple(), other.as_tuple(), strict=True))

    def as_tuple(self) -> tuple[float, int, int, int]:
        """(cpu, heap, off-heap, managed), as the planner takes it."""
        return (float(self.cpu), self.heap_mb, self.off_heap_mb, self.managed_mb)
