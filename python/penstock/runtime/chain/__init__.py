"""The operator chain: the operator contract, outputs in both forms, contexts. The operators themselves are in
:mod:`penstock.runtime.operators`."""
