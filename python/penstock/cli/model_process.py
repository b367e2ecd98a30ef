"""Plans one program and prints its model as JSON, in a process of its own, for :mod:`~penstock.cli.compared_plans`."""

from __future__ import annotations

import json
import sys

from penstock.cli.compared_plans import model_with_classes
from penstock.cli.program import Planning
from penstock.cli.report import guard

if __name__ == "__main__":
    file, *planning = json.loads(sys.argv[1])
    with guard(file):
        model = model_with_classes(Planning(*planning).plan(file))
    sys.stdout.write(json.dumps(model.to_dict()))
