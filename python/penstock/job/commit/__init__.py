"""From pending files to published ones: names, manifest, publication, and what is left after a crash. Who writes the
files is in :mod:`penstock.runtime.io`."""
