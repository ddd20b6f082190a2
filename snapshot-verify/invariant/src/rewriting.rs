//! The program that a certificate is about: as it is written, or rewritten by forms that it names.
//!
//! A rewriting ([`snapshot_language::program::rewrite`]) is a condition on the text. The certificate
//! only says that it was made, variable by variable; the check makes it again, by itself.

use std::borrow::Cow;

use snapshot_language::program::Program;
use snapshot_language::program::rewrite::rewrite;

/// The program in which these variables are rewritten; none of them: as it is written. `None`: it is not
/// rewritten so.
pub(crate) fn rewritten<'p>(program: &'p Program, changes: &[String]) -> Option<Cow<'p, Program>> {
    if changes.is_empty() {
        return Some(Cow::Borrowed(program));
    }
    let rewritten = rewrite(program)?;
    let is_so = rewritten.changes.iter().map(ToString::to_string).eq(changes.iter().cloned());
    is_so.then_some(Cow::Owned(rewritten.program))
}
