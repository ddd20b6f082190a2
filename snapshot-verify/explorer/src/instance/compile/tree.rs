//! Arrays and records, as trees of scalars.

/// The structure of a type: a scalar, or its elements or fields in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Tree<T> {
    Leaf(T),
    /// An array or a record.
    Node(Vec<Tree<T>>),
}

impl<T> Tree<T> {
    /// Returns the elements or fields.
    ///
    /// # Panics
    /// For a scalar: the program is not well-typed.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Node(parts) => parts,
            Self::Leaf(_) => panic!("a well-typed program takes no part of a scalar"),
        }
    }

    /// Returns the scalar.
    ///
    /// # Panics
    /// For an array or record: the program is not well-typed.
    pub(super) fn into_leaf(self) -> T {
        match self {
            Self::Leaf(leaf) => leaf,
            Self::Node(_) => panic!("a well-typed program computes with scalars only"),
        }
    }

    /// Returns a tree of the same shape with mapped scalars.
    pub(super) fn map<U>(&self, leaf: &mut impl FnMut(&T) -> U) -> Tree<U> {
        match self {
            Self::Leaf(content) => Tree::Leaf(leaf(content)),
            Self::Node(parts) => Tree::Node(parts.iter().map(|part| part.map(leaf)).collect()),
        }
    }

    /// Returns the scalars, in order.
    pub(super) fn leaves(&self) -> Vec<&T> {
        fn collect<'a, T>(tree: &'a Tree<T>, leaves: &mut Vec<&'a T>) {
            match tree {
                Tree::Leaf(leaf) => leaves.push(leaf),
                Tree::Node(parts) => parts.iter().for_each(|part| collect(part, leaves)),
            }
        }
        let mut leaves = Vec::new();
        collect(self, &mut leaves);
        leaves
    }

    /// Combines trees of one shape, scalar by scalar.
    ///
    /// # Panics
    /// If the shapes differ.
    pub(super) fn zip<U>(trees: &[&Self], leaf: &mut impl FnMut(&[&T]) -> U) -> Tree<U> {
        match trees[0] {
            Self::Leaf(_) => {
                let leaves: Vec<&T> = trees
                    .iter()
                    .map(|tree| match tree {
                        Self::Leaf(content) => content,
                        Self::Node(_) => panic!("trees of one type have one shape"),
                    })
                    .collect();
                Tree::Leaf(leaf(&leaves))
            }
            Self::Node(parts) => Tree::Node(
                (0..parts.len())
                    .map(|part| {
                        let trees: Vec<&Self> =
                            trees.iter().map(|tree| &tree.parts()[part]).collect();
                        Self::zip(&trees, leaf)
                    })
                    .collect(),
            ),
        }
    }
}
