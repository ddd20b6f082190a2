//! Faults of a program itself.

use std::panic::{UnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::output::report;

/// The exit code of a fault: neither an answer nor a refused input.
pub const CODE: u8 = 4;

/// Runs a program; if it panics, reports a fault of the program, triggered by the input, and
/// returns [`CODE`].
pub fn guarded(run: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    catch_unwind(run).unwrap_or_else(|_| {
        report(
            "BUG in this program, please report it: with the message above, the command line, and \
             the files that it names",
        );
        ExitCode::from(CODE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_has_its_own_exit_code() {
        assert_eq!(guarded(|| ExitCode::from(3)), ExitCode::from(3));
        assert_eq!(guarded(|| panic!("a fault")), ExitCode::from(CODE));
    }
}
