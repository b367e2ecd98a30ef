"""What depends on the version of Flink: values that the passes ask for, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from tests.reference import errors


@dataclass(frozen=True)
class Profile:
    release: str
    hash_ordered: bool
    head_index: int
    default_buffer_timeout: int | None
    connects_at_once: bool
    shares_data_sets: bool
    counts_in_floats: bool
    unset_memory_weight: int
    memory_by_resources: bool
    cpu_digits: int | None
    looks_ahead: bool
    unhashed: str
    groupless: str
    checks_groups_first: bool
    allows_empty_texts: bool
    allows_fed_sources: bool
    allows_iterations: bool


PROFILES = {
    "1.11": Profile(
        release="1.11.4",
        hash_ordered=True,
        head_index=0,
        default_buffer_timeout=100,
        connects_at_once=True,
        shares_data_sets=False,
        counts_in_floats=True,
        unset_memory_weight=1,
        memory_by_resources=True,
        cpu_digits=None,
        looks_ahead=False,
        unhashed=errors.ILLEGAL_ARGUMENT,
        groupless=errors.ILLEGAL_STATE,
        checks_groups_first=False,
        allows_empty_texts=True,
        allows_fed_sources=True,
        allows_iterations=True,
    ),
    "2.3": Profile(
        release="2.3.0",
        hash_ordered=False,
        head_index=1,
        default_buffer_timeout=None,
        connects_at_once=False,
        shares_data_sets=True,
        counts_in_floats=False,
        unset_memory_weight=0,
        memory_by_resources=False,
        cpu_digits=8,
        looks_ahead=True,
        unhashed=errors.NULL_POINTER,
        groupless=errors.NULL_POINTER,
        checks_groups_first=True,
        allows_empty_texts=False,
        allows_fed_sources=False,
        allows_iterations=False,
    ),
}
