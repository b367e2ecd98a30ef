"""Python objects with Java's names, where PyFlink has objects of Java."""
