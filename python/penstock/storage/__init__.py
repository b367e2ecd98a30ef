"""Local files and object stores behind one interface."""
