"""Savepoints: the state of a job in one folder that can be moved, looked at and begun from, also by a changed program.

``format`` has the file that makes a folder a savepoint, ``checking`` what must hold of it, ``carrying`` brings state
files from one place to another, ``taking`` writes, finds and brings in, ``asking`` does so beside a driver;
``contents``, ``verifying`` and ``differing`` look at what is there.
"""
