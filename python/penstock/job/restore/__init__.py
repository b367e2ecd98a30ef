"""A job that continues with a changed program: which operator takes which state, what is refused, and what is said.
Used before a program is deployed (:mod:`.taking_over`), and when its first checkpoint is opened
(:mod:`.adapted_manifest`)."""
