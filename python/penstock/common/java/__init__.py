"""Values as Java has them: hash codes, objects, types."""
