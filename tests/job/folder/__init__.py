"""The checkpoint directory: what is written how, by whom, and what goes when."""
