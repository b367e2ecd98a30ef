"""The viewer: a plan as one HTML file that needs nothing else, in notebooks too, and of a job that runs.

Here: what of a plan goes into the page, the page itself, and a server for pages of running jobs. Not here: what the
page does with it, which is TypeScript in ``viewer/`` at the top of the repository and comes built into the package
(``make viewer``), and any decision about plans.
"""

from __future__ import annotations

from penstock.viewer.page import Page, view

__all__ = ["Page", "view"]
