"""The state of Python functions in savepoints of PyFlink, 1.20 to 2.3.

A savepoint has most of it as bytes, without types: :func:`read_python_state` needs those that the program declares.
``coders`` is the pass from types to readers of these bytes, ``java_forms`` that of keys and of thread mode, ``states``
what the entries of a state consist of. Nothing is unpickled here; the caller brings what makes objects of pickles.
"""

from __future__ import annotations

from penstock.flink.pyflink.entries import PythonEntry, python_states, read_python_state

__all__ = ["PythonEntry", "python_states", "read_python_state"]
