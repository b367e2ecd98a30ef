"""The planner through its Python door: golden records, errors, views, columns, scale."""
