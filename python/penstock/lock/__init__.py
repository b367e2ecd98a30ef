"""The lock file of a program (:mod:`~penstock.lock.format`), which calls pin the IDs that are locked
(:mod:`~penstock.lock.pins`), and how they are written into its source (:mod:`~penstock.lock.fixer`). Not here: how
programs are planned and compared."""
