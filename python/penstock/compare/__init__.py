"""What an edit of a program does: two models of it side by side, before anything is deployed.

Here: which operator of the new program is which of the old one (:mod:`~penstock.compare.matching`), why an operator ID
is another one (:mod:`~penstock.compare.causes`), what becomes of state (:mod:`~penstock.compare.states`), all together
(:mod:`~penstock.compare.difference`) and as texts (:mod:`~penstock.compare.texts`). Not here: how programs are run for
their plan, and how sources are edited.
"""
