//! A crowded bucket of `java.util.HashMap`: a red-black tree whose entries are also linked in iteration order.
//!
//! A new entry is linked right behind its tree parent, and the root is moved to the front of the links; so the iteration
//! order depends on every rotation, and the balancing here has to rotate exactly when Java's does. `Integer` keys have
//! distinct spread hashes, so ties never occur. Entries are never removed.

const NONE: usize = usize::MAX;

#[derive(Clone, Copy)]
struct Node {
    entry: u32,
    parent: usize,
    left: usize,
    right: usize,
    red: bool,
}

/// One tree bucket. Nodes are numbered in order of insertion.
#[derive(Clone)]
pub struct TreeBin {
    nodes: Vec<Node>,
    next: Vec<usize>,
    prev: Vec<usize>,
    root: usize,
    first: usize,
}

impl TreeBin {
    /// The tree of entries that stood in a list in this order.
    pub fn build(entries: &[u32], hashes: &[u32]) -> Self {
        let mut tree = Self { nodes: Vec::new(), next: Vec::new(), prev: Vec::new(), root: NONE, first: NONE };
        for (position, &entry) in entries.iter().enumerate() {
            tree.nodes.push(Node { entry, parent: NONE, left: NONE, right: NONE, red: false });
            tree.next.push(if position + 1 < entries.len() { position + 1 } else { NONE });
            tree.prev.push(if position > 0 { position - 1 } else { NONE });
        }
        tree.first = 0;
        for node in 0..entries.len() {
            tree.attach(node, hashes);
        }
        tree.move_root_to_front();
        tree
    }

    /// Adds one entry, linked right behind its parent.
    pub fn insert(&mut self, entry: u32, hashes: &[u32]) {
        let node = self.nodes.len();
        self.nodes.push(Node { entry, parent: NONE, left: NONE, right: NONE, red: false });
        self.next.push(NONE);
        self.prev.push(NONE);
        let parent = self.parent_for(node, hashes);
        let after = self.next[parent];
        self.next[parent] = node;
        self.prev[node] = parent;
        self.next[node] = after;
        if after != NONE {
            self.prev[after] = node;
        }
        self.attach(node, hashes);
        self.move_root_to_front();
    }

    /// Entries in iteration order.
    pub fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut node = self.first;
        while node != NONE {
            order.push(self.nodes[node].entry);
            node = self.next[node];
        }
        order
    }

    fn hash(&self, node: usize, hashes: &[u32]) -> i32 {
        hashes[self.nodes[node].entry as usize] as i32
    }

    fn parent_for(&self, node: usize, hashes: &[u32]) -> usize {
        let hash = self.hash(node, hashes);
        let (mut parent, mut at) = (NONE, self.root);
        while at != NONE {
            parent = at;
            at = if self.hash(at, hashes) > hash { self.nodes[at].left } else { self.nodes[at].right };
        }
        parent
    }

    fn attach(&mut self, node: usize, hashes: &[u32]) {
        let parent = self.parent_for(node, hashes);
        if parent == NONE {
            self.root = node;
            return;
        }
        self.nodes[node].parent = parent;
        if self.hash(parent, hashes) > self.hash(node, hashes) {
            self.nodes[parent].left = node;
        } else {
            self.nodes[parent].right = node;
        }
        self.balance(node);
    }

    fn balance(&mut self, mut node: usize) {
        self.nodes[node].red = true;
        loop {
            let parent = self.nodes[node].parent;
            if parent == NONE {
                self.nodes[node].red = false;
                return;
            }
            let grand = self.nodes[parent].parent;
            if !self.nodes[parent].red || grand == NONE {
                return;
            }
            let on_left = self.nodes[grand].left == parent;
            let uncle = if on_left { self.nodes[grand].right } else { self.nodes[grand].left };
            if uncle != NONE && self.nodes[uncle].red {
                self.nodes[uncle].red = false;
                self.nodes[parent].red = false;
                self.nodes[grand].red = true;
                node = grand;
            } else {
                node = self.rotate_around(node, parent, grand, on_left);
            }
        }
    }

    /// The case with a black uncle: an inner child is rotated outward first, then the grandparent goes down.
    fn rotate_around(&mut self, node: usize, parent: usize, grand: usize, on_left: bool) -> usize {
        let inner = if on_left { self.nodes[parent].right } else { self.nodes[parent].left };
        let (low, top) = if inner == node {
            self.rotate(parent, on_left);
            (parent, node)
        } else {
            (node, parent)
        };
        self.nodes[top].red = false;
        self.nodes[grand].red = true;
        self.rotate(grand, !on_left);
        low
    }

    /// Rotates `pivot` down to the left (or right) and its other child up.
    fn rotate(&mut self, pivot: usize, to_left: bool) {
        let up = if to_left { self.nodes[pivot].right } else { self.nodes[pivot].left };
        let moved = if to_left { self.nodes[up].left } else { self.nodes[up].right };
        let parent = self.nodes[pivot].parent;
        if to_left {
            self.nodes[pivot].right = moved;
            self.nodes[up].left = pivot;
        } else {
            self.nodes[pivot].left = moved;
            self.nodes[up].right = pivot;
        }
        if moved != NONE {
            self.nodes[moved].parent = pivot;
        }
        self.nodes[up].parent = parent;
        self.nodes[pivot].parent = up;
        if parent == NONE {
            self.root = up;
            self.nodes[up].red = false;
        } else if self.nodes[parent].left == pivot {
            self.nodes[parent].left = up;
        } else {
            self.nodes[parent].right = up;
        }
    }

    fn move_root_to_front(&mut self) {
        let root = self.root;
        if self.first == root {
            return;
        }
        let (before, after) = (self.prev[root], self.next[root]);
        if after != NONE {
            self.prev[after] = before;
        }
        if before != NONE {
            self.next[before] = after;
        }
        self.prev[self.first] = root;
        self.next[root] = self.first;
        self.prev[root] = NONE;
        self.first = root;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_ascending_hashes_put_the_root_first() {
        let hashes: Vec<u32> = (0..9).collect();
        let tree = TreeBin::build(&(0..9).collect::<Vec<_>>(), &hashes);
        assert_eq!(tree.order(), [3, 0, 1, 2, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn an_insert_stands_behind_its_parent() {
        let hashes: Vec<u32> = (0..10).map(|i| i * 2).chain([5]).collect();
        let mut tree = TreeBin::build(&(0..10).collect::<Vec<_>>(), &hashes);
        tree.insert(10, &hashes);
        let order = tree.order();
        let at = order.iter().position(|&entry| entry == 10).unwrap();
        assert_eq!(order[at - 1], 2, "4 is the parent of 5: {order:?}");
    }
}
