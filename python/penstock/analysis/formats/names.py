"""Names of strangers in Markdown, DOT and Mermaid: text and nothing else, on one line."""

from __future__ import annotations

from penstock.display.visible import visible

LONGEST = 200
"""Characters of a name in a text for readers; a name may have thousands."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:-_/()=+$")


def in_markdown(text: str) -> str:
    """As code, where neither markup nor links nor mentions mean anything; also in a cell of a table.

    A code span has no way to write every character, so that a text with one of those becomes HTML of numbers.
    """
    shown = visible(text, LONGEST)
    if not shown:
        return ""
    if not set("`|\\").isdisjoint(shown) or shown != shown.strip():
        return f"<code>{_numbered(shown, '&#{};')}</code>"
    return f"`{shown}`"


def in_dot(text: str) -> str:
    """As a quoted string. Graphviz reads backslashes in labels, and references to characters as in HTML."""
    shown = visible(text, LONGEST).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def in_mermaid(text: str) -> str:
    """As part of a quoted label, in which Mermaid reads ``#60;`` as the character of that number."""
    return _numbered(visible(text, LONGEST), "#{};")


def _numbered(text: str, reference: str) -> str:
    """With all that could mean something as references; letters that are not ASCII are safe."""
    return "".join(each if each in _SAFE or not each.isascii() else reference.format(ord(each)) for each in text)
