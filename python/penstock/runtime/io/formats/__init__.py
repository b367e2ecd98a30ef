"""Formats of files: how records follow from what is in them, and how they are written. A file per format; what several
need beside them. Libraries are loaded when a file is read or written, not before."""
