"""Of what users test their programs with."""
