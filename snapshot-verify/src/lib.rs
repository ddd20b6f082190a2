//! Verification of snapshot algorithms, from their pseudocode, by exhaustive
//! exploration of their (i, j)-simple executions. Not yet implemented: the
//! crate exists so that the workspace has its final shape.
