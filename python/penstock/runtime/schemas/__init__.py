"""Records as bytes, and bytes as records: JSON, CSV and Avro by a declared type. What a schema is, is in
:mod:`penstock.common.serialization`; files are in :mod:`penstock.runtime.io`."""
