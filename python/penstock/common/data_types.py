"""Types of columns with PyFlink's names: ``DataTypes.DECIMAL(10, 2)``."""

from __future__ import annotations

from penstock.common.column_types import DataType, DataTypes, RowField, RowType

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]
