"""The site: its front page leads everywhere, its search finds what people ask for, it loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

DOCS = ROOT / "docs"
HOME = "https://penstock.github.io/penstock/"
SOUGHT = {
    "resume": {"restoring/", "streaming/"},
    "schema evolution": {"restoring/"},
    "bootstrap": {"savepoints/"},
    "backpressure": {"operations/"},
    "rescale": {"restoring/"},
    "micro-batch": {"vocabulary/"},
    "container": {"deploy/"},
    "exactly once": {"streaming/"},
    "late": {"time/"},
    "attempt number from 0": {"reference/errors/"},  # a comment behind a field
}
"""Words, and the pages that have to be found by them."""


def test_the_front_page_leads_to_every_page() -> None:
    menu = re.findall(r"^ +- .*: ([^:\s]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(menu) > 50
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", front))
    assert [page for page in menu if page not in linked and page != "index.md"] == []
    for part in ("```python", "![", "are new to this", "come from Flink", "come from Spark"):
        assert part in front.partition("## All pages")[0]


class Loads(HTMLParser):
    """What a browser loads of its own accord when it shows a page, and what the theme's script would ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "link" and set(known.get("rel", "").split()) & {"canonical", "prev", "next", "edit"}:
            return
        names = {"link": ["href"], "a": []}.get(tag, ["src", "srcset", "data", "poster", "action"])
        self.urls += [known[name] for name in names if known.get(name)]
        self.urls += re.findall(r"url\(([^)]+)\)", known.get("style", ""))
        if known.get("data-md-component") == "source" or "mermaid" in known.get("class", "").split():
            self.urls.append(f"https:the theme's script for {known}")


def outside(site: Path) -> list[str]:
    """What the pages and style sheets of a site load from other hosts."""
    loaded: list[str] = []
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        loaded += [f"{page.name}: {url}" for url in loads.urls if re.match(r"(https?:)?//|https?:", url)]
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        urls = re.findall(r"""(?:url\(|@import )["']?([^"')\s]+)""", text)
        loaded += [f"{sheet.name}: {url}" for url in urls if re.match(r"(https?:)?//", url)]
    return loaded


def built(tmp_path: Path) -> Path:
    """The site, as `make docs` has built it just now, or else built here."""
    index = ROOT / "site" / "search" / "search_index.json"
    sources = [ROOT / "mkdocs.yml", ROOT / ".ci" / "docs_site.py", *DOCS.rglob("*.*")]
    if index.is_file() and index.stat().st_mtime >= max(source.stat().st_mtime for source in sources):
        return ROOT / "site"
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return tmp_path / "site"


def test_the_site_finds_what_is_sought_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="what builds the site is not installed")
    site = built(tmp_path)
    assert outside(site) == []
    assert len(moved()) == 13
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    for words, pages in SOUGHT.items():
        hits = {
            entry["location"].partition("#")[0]
            for entry in entries
            if words in f"{entry['title']} {entry['text']}".lower()
        }
        assert pages <= hits, words
    for page, place in moved().items():
        assert f'url=../{place}"' in (site / page / "index.html").read_text(encoding="utf-8")
        target, _, anchor = place.partition("#")
        assert f'id="{anchor}"' in (site / target / "index.html").read_text(encoding="utf-8")
        assert not (DOCS / f"{page}.md").exists()


def moved() -> dict[str, str]:
    """The old addresses of pages, and the places that they lead to."""
    hook = (ROOT / ".ci" / "docs_site.py").read_text(encoding="utf-8")
    return dict(re.findall(r'^    "([a-z-]+)": "([a-z/-]+/#[a-z0-9-]+)",$', hook, re.MULTILINE))


def test_what_loads_from_elsewhere_is_seen(tmp_path: Path) -> None:
    good = f'<link rel="canonical" href="{HOME}"><a href="https://x.org">x</a><img src="a.png"><script src="b.js">'
    (tmp_path / "good.html").write_text(good)
    (tmp_path / "good.css").write_text("a { background: url(data:image/svg+xml;x) } @import 'b.css'")
    assert outside(tmp_path) == []
    bad = ['<script src="https://x.org/a.js"></script>', '<link rel="stylesheet" href="//x.org/a.css">']
    bad += ['<img src="http://x.org/a.png">', '<iframe src="https://x.org"></iframe>', '<a data-md-component="source">']
    bad += ['<pre class="mermaid">']
    for number, text in enumerate(bad):
        (tmp_path / f"{number}.html").write_text(text)
    (tmp_path / "bad.css").write_text("@font-face { src: url('https://fonts.org/a.woff2') } @import '//x.org/b.css';")
    assert len(outside(tmp_path)) == len(bad) + 2
