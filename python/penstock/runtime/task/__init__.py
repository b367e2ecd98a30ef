"""One subtask: rows in, a chain worked through, rows out. Who brings the rows is in :mod:`penstock.local` and
:mod:`penstock.spark`."""
