"""``import penstock.pyflink.install`` lets every ``import pyflink`` of the process mean :mod:`penstock.pyflink`."""

from __future__ import annotations

from penstock.pyflink.finder import install

install()
