"""Every Spark that is supported, from one package: ``python -m tests.sparks --help``."""
