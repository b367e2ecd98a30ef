"""The names of PyFlink's ``pyflink.datastream.formats``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations
