"""Encodes the samples with the real PyFlink's coders: ``PYTHON samples_on_pyflink.py`` prints a line for each value."""

import importlib.metadata
import json
import sys
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

from pyflink.common import Instant, Row, RowKind, Types
from pyflink.fn_execution.beam.beam_coders import FlinkCoder
from pyflink.fn_execution.coders import from_type_info

sys.path.insert(0, str(Path(__file__).parent))

NAMES = {it.__name__: it for it in (Decimal, Instant, Row, RowKind, Types, date, datetime, time)}


def main():
    from samples import SAMPLES

    flink = importlib.metadata.version("apache-flink")
    for kind, values in SAMPLES.items():
        coder = FlinkCoder(from_type_info(eval(kind, NAMES))).get_impl()
        for value in values:
            encoded = coder.encode(eval(value, NAMES))
            decoded = repr(coder.decode(encoded))
            print(
                json.dumps({"flink": flink, "type": kind, "value": value, "bytes": encoded.hex(), "decoded": decoded})
            )


if __name__ == "__main__":
    main()
