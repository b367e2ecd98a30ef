"""A plan as people and tools look at it: what it consists of, why it is so, what it keeps, and how it is written down.

Here: the one model of a plan (:mod:`~penstock.analysis.model`) that explanations, viewers, comparisons, lock files and
lints share, what reads it from a program (:mod:`~penstock.analysis.reading`), the states that operators declare
(:mod:`~penstock.analysis.declared`), and the texts that are made of it (:mod:`~penstock.analysis.formats`). Not here:
decisions about plans, which are the planner's, and anything that runs.
"""
