"""PyFlink's modules, classes and functions under their own names, for programs written for PyFlink.

``penstock run --pyflink program.py`` runs such a program with no line changed; so does ``import
penstock.pyflink.install`` before its imports. The modules are made of the table of PyFlink's names (``names.tsv``) when
they are imported. They have the classes of :mod:`penstock.datastream` and :mod:`penstock.common`, those of
:mod:`penstock.pyflink.deviations` where PyFlink differs from Flink, and placeholders that say what to use instead.
"""

from __future__ import annotations

import sys

from penstock.pyflink import finder

sys.path_hooks.append(finder.names_of)
__path__.append(finder.entry("pyflink"))
