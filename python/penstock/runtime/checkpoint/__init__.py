"""State between two steps: files in the job folder, and what a worker keeps in memory. Everything that a task needs to
begin where another one has stopped is here."""
