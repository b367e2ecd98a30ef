"""The warmest reading of each sensor so far. Native code runs all functions but one; ``penstock explain --native
examples/native_code.py`` says which, and what keeps that one in Python.

    penstock run --local examples/native_code.py

Prints::

    (hall,22.5)
    (roof,29.5)
    (hall,22.5)
    (roof,31.0)
"""

from __future__ import annotations

import logging

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment

LINES = ["hall,22.5", "roof,29.5", "hall,19.0", "roof,31.0"]
READING = Types.TUPLE([Types.STRING(), Types.DOUBLE()])


def fields(line: str) -> tuple[str, float]:
    """Sensor and degrees of a line."""
    sensor, degrees = line.split(",")
    return sensor, float(degrees)


def plausible(reading: tuple[str, float]) -> bool:
    """Whether a reading can be; what cannot goes to the log, an effect that keeps this function in Python."""
    if -60 < reading[1] < 60:
        return True
    logging.warning("dropped %s", reading)
    return False


env = StreamExecutionEnvironment.get_execution_environment()
lines = env.from_collection(LINES, type_info=Types.STRING())
readings = lines.map(fields, output_type=READING).filter(plausible)
readings.key_by(lambda reading: reading[0], key_type=Types.STRING()).max(1).print()
env.execute("warmest")
