"""The lock file of a program, and how today's operator IDs are kept.

Here: ``penstock.lock`` as text and back (:mod:`~penstock.lock.format`), which calls in the program pin the IDs that are
locked (:mod:`~penstock.lock.pins`), and how they get into its source (:mod:`~penstock.lock.fixing`). Not here: how
programs are planned and compared.
"""
