"""The names of PyFlink's ``pyflink.util.api_stability_decorators``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.missing import (
    BaseAPIStabilityDecorator,
    Deprecated,
    Experimental,
    Internal,
    Public,
    PublicEvolving,
)

__all__ = [
    "BaseAPIStabilityDecorator",
    "Deprecated",
    "Experimental",
    "Internal",
    "Public",
    "PublicEvolving",
]
