"""Runs programs on the real PyFlink, in one process: starting Java and Flink once for all saves most of the time."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import traceback
from pathlib import Path

BEGIN, END = "@@@ begin ", "@@@ end "


def main() -> None:
    """Run the programs that are named as arguments; exit with 1 if one fails."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # Flink starts its Python
    out = importlib.import_module("pyflink.java_gateway").get_gateway().jvm.java.lang.System.out
    failed = False
    for program in sys.argv[1:]:
        out.println(BEGIN + Path(program).stem)
        try:
            runpy.run_path(program, run_name="__main__")
        except Exception:
            failed = True
            traceback.print_exc()
        else:
            sys.stdout.flush()
            out.println(END + Path(program).stem)
    sys.exit(failed)


if __name__ == "__main__":
    main()
