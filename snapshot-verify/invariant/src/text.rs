//! Views as lines of text.
//!
//! A line has only the bytes of a view that may be other than 0. It gives the number of bytes in
//! common with the line before, from the left and from the right, and the bytes between.

use crate::layout::Layout;

/// Converter between views and lines.
pub struct Rows {
    /// Bytes of a view that are written.
    columns: Vec<usize>,
    width: usize,
    before: Vec<u8>,
}

impl Rows {
    /// Starts before the first line, for views of a layout.
    pub fn new(layout: &Layout<'_>) -> Self {
        let width = layout.slots.len();
        let columns: Vec<usize> = (0..width).filter(|at| layout.slots[*at].kept).collect();
        Self { before: vec![0; columns.len()], columns, width }
    }

    /// Returns the line of the next view.
    pub fn line(&mut self, view: &[u8]) -> String {
        let row: Vec<u8> = self.columns.iter().map(|at| view[*at]).collect();
        let same = |one: &(&u8, &u8)| one.0 == one.1;
        let left = row.iter().zip(&self.before).take_while(same).count();
        let right = row[left..].iter().rev().zip(self.before[left..].iter().rev());
        let right = right.take_while(same).count();
        let mut line = format!("{left} {right} ");
        for byte in &row[left..row.len() - right] {
            match *byte < PLAIN {
                true => line.push(char::from(FIRST + byte)),
                false => line.push_str(&format!("~{byte:02x}")),
            }
        }
        self.before = row;
        line
    }

    /// Returns the view of the next line; `None` if the line is malformed.
    pub fn view(&mut self, line: &str) -> Option<Vec<u8>> {
        let mut words = line.split(' ');
        let left: usize = words.next()?.parse().ok()?;
        let right: usize = words.next()?.parse().ok()?;
        let between = words.next()?;
        if words.next().is_some() || left.checked_add(right)? > self.columns.len() {
            return None;
        }
        let mut row = self.before[..left].to_vec();
        let mut bytes = between.bytes();
        while let Some(byte) = bytes.next() {
            row.push(match byte {
                b'~' => {
                    let digit = |byte: u8| char::from(byte).to_digit(16);
                    let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                    (high * 16 + low) as u8
                }
                byte => byte.checked_sub(FIRST).filter(|byte| *byte < PLAIN)?,
            });
        }
        row.extend_from_slice(&self.before[self.before.len() - right..]);
        if row.len() != self.columns.len() {
            return None;
        }
        let mut view = vec![0; self.width];
        self.columns.iter().zip(&row).for_each(|(at, byte)| view[*at] = *byte);
        self.before = row;
        Some(view)
    }
}

/// Character of 0.
const FIRST: u8 = b'!';

/// Smaller bytes have one character each, up to `}`.
const PLAIN: u8 = b'}' - FIRST + 1;
