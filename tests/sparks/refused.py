"""A server of Spark Connect for a PySpark that cannot run jobs there: ``python -m tests.sparks.refused``."""

from __future__ import annotations

import pytest

from penstock.errors import ConfigurationError
from penstock.spark.session import open_session

if __name__ == "__main__":
    with pytest.raises(ConfigurationError, match=r"Jobs run there from PySpark 4\.3 on"):
        open_session("sc://127.0.0.1:1", {})
