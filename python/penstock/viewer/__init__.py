"""The viewer: a plan as one self-contained HTML file, also in notebooks and for running jobs.

Here: the data of the page, the page itself, and a server for pages of running jobs. Not here: the page's program, which
is TypeScript in ``viewer/`` at the top of the repository and comes built into the package (``make viewer``), and any
decision about plans.
"""

from __future__ import annotations

from penstock.viewer.page import Page, view

__all__ = ["Page", "view"]
