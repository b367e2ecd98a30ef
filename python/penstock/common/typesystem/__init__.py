"""Types of records and values. The names that programs use are in :mod:`penstock.common.typeinfo`."""
