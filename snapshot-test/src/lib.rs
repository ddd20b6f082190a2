//! snapshot-test
