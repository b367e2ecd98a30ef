"""The settings of a program: what each one is called, means and takes."""
