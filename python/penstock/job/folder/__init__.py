"""The checkpoint directory of a program that continues step by step: who may write it, the manifest of each step, and
the removal of what none of them needs. What is in state files is the tasks' matter (:mod:`penstock.runtime`)."""
