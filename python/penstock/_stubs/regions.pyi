"""Pipelined regions of an ExecutionGraph, and the books that are kept by them."""

from collections.abc import Sequence
from typing import Final, final

from penstock._stubs.arrow import Columns

@final
class PipelinedRegions:
    """Subtasks that exchange records while they run, region by region (Flink's SchedulingPipelinedRegion).

    Regions are numbered by their first subtask, which is the order in which Flink schedules them.
    """

    def __len__(self) -> int: ...
    def region_of(self, vertex: int, subtask: int) -> int:
        """The region of a subtask. O(1).

        Raises:
            SpecError: there is no such subtask.
        """
    def spans(self, region: int) -> list[tuple[int, int, int]]:
        """The subtasks of a region, as (vertex, first subtask, last subtask). O(result).

        Raises:
            IndexError: there is no such region.
        """
    def spans_table(self) -> Columns:
        """The subtasks of all regions as columns: region, vertex, first_subtask, last_subtask. O(rows)."""
    def subtasks_table(self) -> Columns:
        """The same subtask by subtask: region, vertex, subtask. O(subtasks)."""

@final
class RestartedRegions:
    """The regions that run again after a failure (Flink's RestartPipelinedRegionFailoverStrategy)."""

    @property
    def regions(self) -> list[int]:
        """Numbers of the regions, ascending. O(regions) at each access."""
    @property
    def total_vertices(self) -> int:
        """Number of subtasks that run again. O(regions) at each access."""
    def __len__(self) -> int: ...
    def spans_table(self) -> Columns:
        """The subtasks as columns: region, vertex, first_subtask, last_subtask. O(rows)."""
    def subtasks_table(self) -> Columns:
        """The same subtask by subtask: region, vertex, subtask. O(subtasks)."""

@final
class PartitionRelease:
    """Keeps book of finished subtasks and says which partitions nobody needs any more (Flink's
    RegionPartitionReleaseStrategy; RegionPartitionGroupReleaseStrategy in 2.3).
    """

    def vertex_finished(self, vertex: int, subtask: int) -> list[ReleasablePartitions]:
        """Note that a subtask has finished.

        Returns:
            The partitions that its region reads and whose readers' regions have all finished with it; empty while a
            subtask of the region has not. O(partition groups that the region reads) when a region finishes, else O(1).

        Raises:
            SpecError: there is no such subtask.
        """
    def vertices_finished(self, vertex: int, first: int, last: int) -> list[ReleasablePartitions]:
        """Note that the subtasks ``first`` to ``last`` of a vertex have finished, one after the other.

        Raises:
            SpecError: there is no such subtask; those before it are noted.
        """
    def vertex_unfinished(self, vertex: int, subtask: int) -> None:
        """Note that a subtask runs again, so that its region has not finished.

        Raises:
            SpecError: there is no such subtask.
        """

@final
class RegionScheduling:
    """Keeps book of what has been written and says which regions may be scheduled (Flink's
    PipelinedRegionSchedulingStrategy).
    """

    def start(self) -> list[int]:
        """The regions that wait for nothing and have not been scheduled, ascending; from now on they count as scheduled."""
    def vertex_finished(self, vertex: int, subtask: int) -> list[int]:
        """Note that a subtask has finished, so that what it writes is there.

        Returns:
            The regions that waited for nothing else, ascending; they count as scheduled. A region waits for the whole of
            each blocking result that it reads from outside; in Flink 2.3, for the partitions of it that it reads.

        Raises:
            SpecError: there is no such subtask.
        """
    def restart(self, regions: Sequence[int]) -> list[int]:
        """Note that regions run again, so that what they have written is gone. O(their subtasks and readers).

        Returns:
            Those of them that wait for nothing, ascending; the others are named when what they wait for is there.

        Raises:
            IndexError: there is no such region.
        """

@final
class ReleasablePartitions:
    """Partitions ``first`` to ``last`` of a result that one input of a consumer has read to the end.

    ``free`` tells whether all other readers of these partitions have finished too, so that the data may be dropped; only a
    result that several inputs share (Flink 2.3) is ever named with ``free`` being False.
    """

    producer: Final[int]
    result: Final[int]
    first: Final[int]
    last: Final[int]
    consumer: Final[int]
    input: Final[int]
    free: Final[bool]
