"""Formats of files: a module per format with all of its public names, and the codecs they share (Arrow, texts by type).
Libraries are loaded when a file is read or written, not before."""
