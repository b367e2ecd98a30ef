"""The lock file of a program, and the calls that keep today's operator IDs.

Here: ``penstock.lock`` as text and back (:mod:`~penstock.lock.format`), which calls in the program pin the IDs that are
locked (:mod:`~penstock.lock.pins`), and how they are written into its source (:mod:`~penstock.lock.fixer`). Not here:
how programs are planned and compared.
"""
