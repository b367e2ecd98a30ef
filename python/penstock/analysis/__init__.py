"""A plan for people and tools: what it consists of, why, which states it keeps, and how it is written.

Here: the one model of a plan (:mod:`~penstock.analysis.model`) that explanations, viewers, comparisons, lock files and
lints share, its builder (:mod:`~penstock.analysis.builder`), the states that operators declare
(:mod:`~penstock.analysis.states`), and the texts, pictures and drawings of the model. Not here: decisions about plans,
which are the planner's, and anything that runs.
"""
