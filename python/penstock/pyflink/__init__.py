"""PyFlink's modules, classes and functions under their own names, for programs written for PyFlink.

``penstock run --pyflink program.py`` runs such a program with no line changed; so does ``import
penstock.pyflink.install`` before its imports. A module here is the mirror of PyFlink's: it hands on the classes of
:mod:`penstock.datastream` and :mod:`penstock.common`, those of :mod:`penstock.pyflink.deviating` where PyFlink differs
from Flink, and placeholders that say what to use instead.
"""
