//! FM 2009, Table 1.

use super::page::{Table, count};
use crate::published::fm2009_table1;

const HEAD: &str = "\
## FM 2009, Table 1

Liu, Chen, Liu and Sun's figures for refinement checking, for reference. Nothing stands beside them:
the objects are not snapshots, and the language of algorithms, in which values are opaque, expresses
none of them. (A K-valued register uses its value as an index.)

";

/// The figures, as they are published.
pub fn section() -> String {
    let mut table = Table::new([
        "algorithm",
        "processes",
        "linearizable",
        "seconds",
        "states",
        "seconds with POR",
        "states with POR",
    ]);
    for row in fm2009_table1() {
        table.row([
            row.algorithm,
            row.processes.to_string(),
            row.linearizable.to_string(),
            row.seconds_without_por.map_or("-".to_owned(), |seconds| seconds.to_string()),
            row.states_without_por.map_or("-".to_owned(), count),
            row.seconds_with_por.to_string(),
            count(row.states_with_por),
        ]);
    }
    format!("{HEAD}{}", table.markdown())
}
