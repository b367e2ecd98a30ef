"""Plans one program and prints its model as JSON, in a process of its own, for :mod:`~penstock.cli.compared_plans`."""

from __future__ import annotations

import json
import sys

from penstock.cli.compared_plans import Planning
from penstock.cli.report import guard


def main(options: str) -> None:
    """Print the model of a program.

    Args:
        options: JSON: the Flink version or null, whether ``pyflink`` means ours, the job or null, the file, and its
            arguments.
    """
    flink, pyflink, job, file, *arguments = json.loads(options)
    with guard(file):
        model = Planning(flink, pyflink, tuple(arguments), job).here(file)
    sys.stdout.write(json.dumps(model.to_dict()))


if __name__ == "__main__":
    main(sys.argv[1])
