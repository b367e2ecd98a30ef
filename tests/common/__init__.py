"""What programs, planner and runtime share."""
