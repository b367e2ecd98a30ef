"""The commit: from pending files to published ones. One protocol for jobs that commit at each checkpoint and for jobs
that commit once. What a crash leaves is finished here, too. Tasks write the files: see :mod:`penstock.runtime.io`."""
