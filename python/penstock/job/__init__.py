"""From a plan to tasks, and back to a result: what the driver does, whoever runs the tasks. Nothing here runs on an
executor."""
