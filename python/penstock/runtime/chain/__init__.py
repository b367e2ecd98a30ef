"""The operator chain: the operator contract, the way in, outputs in both forms, contexts. The operators themselves are
in :mod:`penstock.runtime.operators`."""
