"""The operators a program is made of, one module per family. The contract is :mod:`penstock.runtime.chain.operator`.

Nothing is imported here: a task of Spark loads the families that its chain has.
"""
