//! Arena of slices of words. Few allocations waste little memory, and are freed quickly when a
//! search ends.

/// Words per allocation; a longer slice gets its own.
const CHUNK: usize = 1 << 14;

/// Arena of slices.
#[derive(Debug, Default)]
pub struct Slices {
    chunks: Vec<Vec<u32>>,
    words: usize,
}

/// Position of a slice in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    chunk: u32,
    start: u32,
    length: u32,
}

impl Slices {
    /// Copies a slice into the arena.
    pub fn keep(&mut self, slice: &[u32]) -> Slice {
        let has_room = |chunk: &Vec<u32>| chunk.capacity() - chunk.len() >= slice.len();
        if !self.chunks.last().is_some_and(has_room) {
            let chunk = Vec::with_capacity(slice.len().max(CHUNK));
            self.words += chunk.capacity();
            self.chunks.push(chunk);
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let start = chunk.len() as u32;
        chunk.extend_from_slice(slice);
        Slice { chunk: number as u32, start, length: slice.len() as u32 }
    }

    pub fn get(&self, slice: Slice) -> &[u32] {
        let start = slice.start as usize;
        &self.chunks[slice.chunk as usize][start..start + slice.length as usize]
    }

    pub const fn bytes(&self) -> usize {
        self.words * size_of::<u32>() + self.chunks.capacity() * size_of::<Vec<u32>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_all_lengths_are_kept() {
        let mut slices = Slices::default();
        let lengths = [0, 1, 3 * CHUNK, 7, CHUNK - 1, CHUNK, CHUNK + 1, 0, 5];
        let content = |length: usize| (0..length as u32).map(move |word| word + length as u32);
        let kept: Vec<Slice> = lengths
            .iter()
            .map(|length| slices.keep(&content(*length).collect::<Vec<_>>()))
            .collect();
        for (length, slice) in lengths.into_iter().zip(kept) {
            assert!(slices.get(slice).iter().copied().eq(content(length)), "{length}");
        }
        let words: usize = lengths.iter().sum();
        assert!(slices.bytes() >= words * 4 && slices.bytes() < 2 * words * 4 + 4 * CHUNK * 4);
    }
}
