"""Options for stores, of which some are keys and passwords: a setting whose value nobody is to see."""

from __future__ import annotations

import json
from typing import Any

STORES = ("s3", "gs", "abfs", "hdfs", "memory")
"""Schemes of stores for which there can be options."""


class Secrets(dict[str, dict[str, Any]]):
    """Options by scheme, which may be keys and passwords: they do not show themselves. Nobody changes them."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(json.dumps(self, sort_keys=True))

    def __repr__(self) -> str:
        return f"<options for {', '.join(sorted(self)) or 'nothing'}>"


class Stores:
    """Options for stores, as JSON: ``{"s3": {"endpoint_url": "http://host:9000"}}``. No message shows their text."""

    @property
    def wanted(self) -> str:
        """See :class:`penstock.common.setting.Kind`."""
        return 'options of fsspec by scheme, as JSON, such as {"s3": {"endpoint_url": "http://host:9000"}}'

    def parse(self, text: str) -> Secrets:
        """See :class:`penstock.common.setting.Kind`."""
        found: Any = json.loads(text)  # its error is a ValueError
        if not isinstance(found, dict):
            raise ValueError
        options: dict[Any, Any] = found  # type: ignore[reportUnknownVariableType]
        if not all(name in STORES and isinstance(each, dict) for name, each in options.items()):
            raise ValueError
        return Secrets(options)

    def text(self, value: Secrets) -> str:
        """See :class:`penstock.common.setting.Kind`."""
        return json.dumps(value)
