"""Saves and restores the state of a subtask in state files. The files of a checkpoint are listed in its manifest."""
