"""A wheel on the path, as ``spark-submit --py-files`` puts one there, is refused with the recipe."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import penstock


def test_a_wheel_on_the_path_is_refused_before_anything_is_half_imported(tmp_path: Path) -> None:
    package, wheel = Path(penstock.__file__).parent, tmp_path / "penstock-1-cp310-abi3-linux.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for path in (package / "__init__.py", package / "errors.py"):
            file.write(path, f"penstock/{path.name}")
    program = "try:\n    import penstock\nexcept ImportError as error:\n    print(error.name, error)"
    run = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.startswith(f"penstock Penstock is imported from {str(wheel)!r}, and that is a file"), run.stderr
    assert "--archives" in run.stdout
    assert "pip install it" in run.stdout
