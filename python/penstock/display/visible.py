"""Texts of strangers as text and nothing else: what controls terminals or the direction of writing is spelled out."""

from __future__ import annotations

import unicodedata

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, limit: int | None = None) -> str:
    r"""A text with every character that is not seen as itself spelled out, such as ``\n`` or ``\u202e``. O(characters).

    Args:
        text: from anywhere.
        limit: characters that are kept; the rest becomes ``…``. None keeps all.
    """
    cut = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    if cut.isascii() and cut.isprintable():
        return cut
    return "".join(
        each.encode("unicode_escape").decode() if unicodedata.category(each) in _UNSEEN else each for each in cut
    )
