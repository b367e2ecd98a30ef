"""The job folder of a program that goes on step by step: who may write it, the manifest of each step, and the removal
of what none of them needs. What is in state files is the tasks' matter (:mod:`penstock.runtime`)."""
