"""Savepoints as data: read what is in them, make new ones of them, fill one from a table.

What Flink has its State Processor API for. Nothing here needs the program that wrote a savepoint, and nothing is ever
changed in place: :class:`SavepointWriter` writes a new one.
"""

from penstock.savepoints.bootstrap import BootstrapContext, KeyedStateBootstrapFunction
from penstock.savepoints.reader import Savepoint
from penstock.savepoints.table import StateTable
from penstock.savepoints.writer import SavepointWriter

__all__ = ["BootstrapContext", "KeyedStateBootstrapFunction", "Savepoint", "SavepointWriter", "StateTable"]
