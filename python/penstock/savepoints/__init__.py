"""Savepoints as data: read what is in them, derive new ones, fill one from a table. Those of Flink are read too.

This is what Flink's State Processor API does. It does not need the program that wrote a savepoint, and never changes a
savepoint in place: :class:`SavepointWriter` writes a new one.
"""

from penstock.savepoints.bootstrap import BootstrapContext, KeyedStateBootstrapFunction
from penstock.savepoints.entrance import read
from penstock.savepoints.reader import Savepoint
from penstock.savepoints.table import StateTable
from penstock.savepoints.writer import SavepointWriter

__all__ = ["BootstrapContext", "KeyedStateBootstrapFunction", "Savepoint", "SavepointWriter", "StateTable", "read"]
