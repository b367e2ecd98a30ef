"""Properties that hold for every graph, tried on random ones."""
