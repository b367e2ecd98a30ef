"""The effect of an edit of a program: two models of it side by side, before anything is deployed.

Here: the pairs of operators of both (:mod:`~penstock.compare.pairs`), why an operator ID changes
(:mod:`~penstock.compare.causes`), the fate of state (:mod:`~penstock.compare.states`), all together
(:mod:`~penstock.compare.difference`) and as texts (:mod:`~penstock.compare.texts`). Not here: how programs are run for
their plan, and how sources are edited.
"""
