"""The JDBC sink: databases through Python's drivers."""
