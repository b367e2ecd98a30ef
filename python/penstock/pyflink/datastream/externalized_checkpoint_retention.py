"""The names of PyFlink's ``pyflink.datastream.externalized_checkpoint_retention``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "ExternalizedCheckpointRetention",
    "get_gateway",
]
