"""The loop of a program that runs in steps, whoever runs its tasks: what is read, what is committed, what is said. The
folder it commits to is in :mod:`penstock.job.folder`."""
