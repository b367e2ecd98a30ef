"""Java behaviour that is visible in a plan: the order of ``HashMap<Integer, …>``, ID order, and text escaping."""

from __future__ import annotations

from collections.abc import Iterable
from html.entities import codepoint2name

TREEIFY_THRESHOLD = 8
UNTREEIFY_THRESHOLD = 6
MIN_TREEIFY_CAPACITY = 64


def to_int32(value: int) -> int:
    """The value wrapped to a signed 32-bit int, as Java arithmetic leaves it."""
    return (value + 2**31) % 2**32 - 2**31


def string_hash(text: str) -> int:
    """``String.hashCode``: over UTF-16 units, in base 31."""
    units = text.encode("utf-16-le")
    value = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = to_int32(31 * value + low + 256 * high)
    return value


def spread_hash(key: int) -> int:
    """``HashMap.hash`` of an Integer: the high half is mixed into the low half. Signed."""
    unsigned = key % 2**32
    return to_int32(unsigned ^ (unsigned >> 16))


class _TreeNode:
    """One node of the red-black tree that a crowded bin becomes; ordered by its (unique) hash."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.hash = spread_hash(key)
        self.red = True
        self.parent: _TreeNode | None = None
        self.left: _TreeNode | None = None
        self.right: _TreeNode | None = None


class _Bin:
    """The keys of one bucket in iteration order, and their tree once there are enough of them."""

    def __init__(self, keys: Iterable[int] = ()) -> None:
        self.keys = list(keys)
        self.root: _TreeNode | None = None

    def treeify(self) -> None:
        """Build the tree by inserting in iteration order, then move the root to the front of that order."""
        self.root = None
        for key in self.keys:
            self._insert(_TreeNode(key))
        self._root_to_front()

    def put_into_tree(self, key: int) -> None:
        """A new key stands right behind its parent in the iteration order; then the root moves to the front."""
        parent = self._insert(_TreeNode(key))
        assert parent is not None
        self.keys.insert(self.keys.index(parent.key) + 1, key)
        self._root_to_front()

    def _root_to_front(self) -> None:
        assert self.root is not None
        self.keys.remove(self.root.key)
        self.keys.insert(0, self.root.key)

    def _insert(self, node: _TreeNode) -> _TreeNode | None:
        """Ordinary insertion into a binary search tree, then the red-black repair. Returns the parent at insertion."""
        parent, child = None, self.root
        while child is not None:
            parent, child = child, child.left if node.hash < child.hash else child.right
        node.parent = parent
        if parent is None:
            self.root = node
        elif node.hash < parent.hash:
            parent.left = node
        else:
            parent.right = node
        self._repair(node)
        return parent

    def _repair(self, node: _TreeNode) -> None:
        while node.parent is not None and node.parent.red:
            parent, grandparent = node.parent, node.parent.parent
            assert grandparent is not None  # a red node is never the root
            parent_is_left = parent is grandparent.left
            uncle = grandparent.right if parent_is_left else grandparent.left
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                grandparent.red = True
                node = grandparent
                continue
            if node is (parent.right if parent_is_left else parent.left):  # inner grandchild: make it an outer one
                self._rotate(parent, to_left=parent_is_left)
                node, parent = parent, node
            parent.red = False
            grandparent.red = True
            self._rotate(grandparent, to_left=not parent_is_left)
        assert self.root is not None
        self.root.red = False

    def _rotate(self, node: _TreeNode, *, to_left: bool) -> None:
        riser = node.right if to_left else node.left
        assert riser is not None
        inner = riser.left if to_left else riser.right
        if to_left:
            node.right, riser.left = inner, node
        else:
            node.left, riser.right = inner, node
        if inner is not None:
            inner.parent = node
        riser.parent, node.parent = node.parent, riser
        if riser.parent is None:
            self.root = riser
        elif riser.parent.left is node:
            riser.parent.left = riser
        else:
            riser.parent.right = riser


class IntHashMap:
    """The key order of a ``java.util.HashMap<Integer, …>`` (and of ``HashSet<Integer>``) that only ever grows."""

    def __init__(self) -> None:
        self._bins: list[_Bin] = [_Bin() for _ in range(16)]
        self._size = 0

    def add(self, key: int) -> None:
        """Put a key; putting it again changes nothing."""
        bin_ = self._bins[spread_hash(key) & (len(self._bins) - 1)]
        if key in bin_.keys:
            return
        if bin_.root is not None:
            bin_.put_into_tree(key)
        else:
            bin_.keys.append(key)
            if len(bin_.keys) > TREEIFY_THRESHOLD:
                self._relieve(bin_)
        self._size += 1
        if self._size > len(self._bins) * 3 // 4:
            self._double()

    def keys(self) -> list[int]:
        return [key for bin_ in self._bins for key in bin_.keys]

    def _relieve(self, bin_: _Bin) -> None:
        """A ninth key in one bin: a small table is doubled instead, a large one gets a tree there."""
        if len(self._bins) < MIN_TREEIFY_CAPACITY:
            self._double()
        else:
            bin_.treeify()

    def _double(self) -> None:
        old = self._bins
        self._bins = [_Bin() for _ in range(2 * len(old))]
        for index, bin_ in enumerate(old):
            low = [key for key in bin_.keys if not spread_hash(key) & len(old)]
            high = [key for key in bin_.keys if spread_hash(key) & len(old)]
            self._bins[index] = self._half(bin_, low)
            self._bins[index + len(old)] = self._half(bin_, high)

    @staticmethod
    def _half(bin_: _Bin, keys: list[int]) -> _Bin:
        if bin_.root is not None and len(keys) == len(bin_.keys) > UNTREEIFY_THRESHOLD:
            return bin_  # the whole bin moved: its tree stays as it is
        half = _Bin(keys)
        if bin_.root is not None and len(keys) > UNTREEIFY_THRESHOLD:
            half.treeify()
        return half


def hash_order(keys: Iterable[int]) -> list[int]:
    """Iteration order of a ``HashMap<Integer, …>`` after the keys were put in the given order."""
    table = IntHashMap()
    for key in keys:
        table.add(key)
    return table.keys()


def id_order(operator_id: bytes) -> tuple[int, int]:
    """Sort key of ``AbstractID.compareTo``: the second eight bytes, then the first, as signed big-endian longs."""
    upper = int.from_bytes(operator_id[8:], "big", signed=True)
    lower = int.from_bytes(operator_id[:8], "big", signed=True)
    return upper, lower


_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_string(text: str) -> str:
    """A JSON string literal as Jackson writes it: only what must be escaped, control characters in upper case hex."""

    def escape(char: str) -> str:
        if char in _SHORT_ESCAPES:
            return _SHORT_ESCAPES[char]
        return f"\\u{ord(char):04X}" if char < " " else char

    return '"' + "".join(map(escape, text)) + '"'


def html4(text: str) -> str:
    """The text with every character that has a named HTML 4 entity replaced by it."""
    return "".join(f"&{codepoint2name[ord(c)]};" if ord(c) in codepoint2name else c for c in text)
