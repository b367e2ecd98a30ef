"""What programs for PyFlink find where it has objects of Java: Python objects with Java's names."""
