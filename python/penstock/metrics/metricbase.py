"""Metrics under PyFlink's path."""

from __future__ import annotations

from penstock.metrics.group import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
