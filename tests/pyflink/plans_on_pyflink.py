"""Plans programs on the real PyFlink up to their first ``execute()``, and prints a line of JSON for each."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any, NoReturn

from penstock.plan import from_pyflink

MARK = "@@@ plan "
_HASHER = "org.apache.flink.streaming.api.graph.StreamGraphHasherV2"


class Planned(BaseException):
    """Ends a program at its first ``execute()``."""


def flinks_ids(graph: Any) -> dict[str, str]:
    """The operator IDs that Flink makes of a StreamGraph of its own, by node."""
    maker: Any = importlib.import_module("pyflink.java_gateway").get_gateway().jvm
    for part in _HASHER.split("."):
        maker = getattr(maker, part)
    hashes = maker().traverseStreamGraphAndGenerateHashes(graph)
    return {str(node): bytes(hashes[node]).hex() for node in hashes}


def planned(env: Any, *_: Any, **__: Any) -> NoReturn:
    """In place of ``execute``: read the graph, and end the program."""
    graph = env._generate_stream_graph(False)
    env._generate_stream_graph = lambda *_: graph  # each translation gives some sinks other numbers
    spec = from_pyflink(env).stream_graph.to_dict()
    raise Planned({"spec": spec, "hashes": flinks_ids(graph)})


def main() -> None:
    """Plan the programs that are named as arguments."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = importlib.import_module("pyflink.datastream").StreamExecutionEnvironment
    environment.execute = environment.execute_async = planned
    for program in sys.argv[1:]:
        try:
            runpy.run_path(program, run_name="__main__")
            result: dict[str, Any] = {}
        except Planned as plan:
            result = plan.args[0]
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(MARK + json.dumps({"program": Path(program).stem, **result}, sort_keys=True), flush=True)


if __name__ == "__main__":
    main()
