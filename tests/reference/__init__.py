"""A slow, obvious planner in plain Python: the oracle that the Rust planner is compared with."""

from __future__ import annotations

from tests.reference.planner import plan, plan_deep

__all__ = ["plan", "plan_deep"]
