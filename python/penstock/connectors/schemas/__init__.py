"""Records as bytes, and bytes as records: JSON, CSV and Avro by a declared type. The interface of a schema is in
:mod:`penstock.common.serialization`; formats of files are in :mod:`penstock.connectors.formats`."""
