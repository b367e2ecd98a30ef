"""The viewer: its pages, and the server of running jobs."""
