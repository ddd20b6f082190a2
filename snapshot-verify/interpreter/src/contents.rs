//! Interned contents of single cells.

use rustc_hash::FxHashMap;

use super::parts::SharedPart;
use super::state::Cell;

/// Interner of the contents of cells, their links included. Equal contents have equal numbers.
#[derive(Debug, Default)]
pub struct Contents {
    all: Vec<Cell>,
    numbers: FxHashMap<Cell, u32>,
    bytes: usize,
}

impl Contents {
    /// Returns the numbers of the contents of all cells of a part.
    pub fn of(&mut self, part: &SharedPart) -> impl Iterator<Item = u32> {
        part.0.iter().map(|cell| self.number(cell))
    }

    /// Returns the part with another content of a cell.
    ///
    /// # Panics
    /// If the cell or the content does not exist.
    pub fn put(&self, part: &SharedPart, cell: usize, content: u32) -> SharedPart {
        let mut cells = (*part.0).clone();
        cells[cell] = self.all[content as usize].clone();
        SharedPart(cells.into())
    }

    fn number(&mut self, cell: &Cell) -> u32 {
        if let Some(number) = self.numbers.get(cell) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(cell.clone());
        self.numbers.insert(cell.clone(), number);
        self.bytes += 2 * (cell.content.size() + cell.links.len() + size_of::<Cell>());
        number
    }

    /// Approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl SharedPart {
    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.0.len()
    }
}
