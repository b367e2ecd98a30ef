"""On the path of a process, and of those it starts: neither PySpark nor py4j can be found there."""

import sys
from importlib.machinery import PathFinder

HIDDEN = ("pyspark", "py4j")


class Hiding(PathFinder):
    """Finds what is on the path, but for what is hidden."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """As of a module that is not installed."""
        return None if fullname.partition(".")[0] in HIDDEN else super().find_spec(fullname, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
