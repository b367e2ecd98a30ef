"""What programs for PyFlink find where it has objects of Java: settings, the nodes of a plan, lists and maps, errors.

Python objects answer by Java's names; everything else refuses with advice. Nothing of Java runs.
"""
