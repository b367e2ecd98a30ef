"""What PyFlink's programs find where PyFlink has objects of Java: Python objects with Java's names for what there is.

Settings, the stream graph, collections and options answer; everything else refuses with advice. Nothing of Java runs.
"""
