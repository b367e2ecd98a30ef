"""Savepoints: the state of a job in one folder that can be moved, looked at and begun from, also by a changed program.

``format`` has the file that makes a folder a savepoint, ``checks`` what must hold of it, ``transfer`` carries state
files, ``store`` writes, finds, copies and brings in, ``commands`` does so beside a driver; ``contents`` and
``difference`` look at what is there.
"""
