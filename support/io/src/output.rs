//! Results on standard output, diagnostics on standard error.
//!
//! `println!` panics if an output is full or closed. Here, a full standard output is an error for
//! the caller; a reader that has closed it has seen enough, which ends the program quietly; and a
//! diagnostic that cannot be written is lost, since no other output remains: the exit code still
//! shows the failure.

use std::fmt::Display;
use std::io::{self, Write};

/// Fate of a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Printed {
    Whole,
    /// The reader has closed the output.
    Closed,
}

/// Writes a result unchanged, as for data and JSON.
///
/// # Errors
/// If it cannot be written, other than because the reader has closed the output.
pub fn print_data(data: &str) -> io::Result<Printed> {
    write(&mut io::stdout().lock(), data)
}

/// Writes a result as text, [escaped](crate::escape::text), with the verdicts in colour on a
/// terminal.
///
/// # Errors
/// As [`print_data`].
pub fn print_text(text: &str) -> io::Result<Printed> {
    print_data(&crate::colour::for_stdout(crate::escape::text(text)))
}

/// Writes a diagnostic to standard error, [escaped](crate::escape::text), and a line end.
pub fn report(diagnostic: impl Display) {
    let text = diagnostic.to_string();
    let _ = writeln!(io::stderr().lock(), "{}", crate::escape::text(&text));
}

fn write(output: &mut impl Write, data: &str) -> io::Result<Printed> {
    match output.write_all(data.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(Printed::Whole),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Printed::Closed),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn full_output_is_an_error_and_a_closed_one_is_not() {
        assert_eq!(write(&mut Vec::new(), "x").ok(), Some(Printed::Whole));
        let closed = write(&mut Failing(io::ErrorKind::BrokenPipe), "x");
        assert_eq!(closed.ok(), Some(Printed::Closed));
        assert!(write(&mut Failing(io::ErrorKind::StorageFull), "x").is_err());
    }
}
