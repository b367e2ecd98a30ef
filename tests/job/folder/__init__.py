"""The job folder: what is written how, by whom, and what goes when."""
