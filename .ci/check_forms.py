"""Hold workflows, forms and settings of GitHub to their schemas, in one process: ``python .ci/check_forms.py``."""

from __future__ import annotations

import sys
from pathlib import Path

from check_jsonschema import main

ROOT = Path(__file__).parents[1]
FORMS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "github-actions": "action.yml",
}


def check(schema: str, pattern: str) -> int:
    """Check files by a schema that check-jsonschema has; 0: they are as it says."""
    files = sorted(str(path) for path in ROOT.glob(pattern))
    assert files, f"no file is like {pattern}"
    return main(["--builtin-schema", f"vendor.{schema}", *files], standalone_mode=False) or 0


if __name__ == "__main__":
    sys.exit(max([check(schema, pattern) for schema, pattern in FORMS.items()]))
