//! Segment trees over ranks: the greatest of numbers that change, and sums over intervals.

/// Numbers with the greatest of any interval.
#[derive(Debug)]
pub(in crate::generic) struct Peaks {
    size: usize,
    /// Per node the greatest number below it with its place, as one word.
    nodes: Vec<u64>,
}

impl Peaks {
    pub fn new(numbers: impl ExactSizeIterator<Item = u32>) -> Self {
        let size = numbers.len().next_power_of_two();
        let mut nodes = vec![0; 2 * size];
        for (place, number) in numbers.enumerate() {
            nodes[size + place] = u64::from(number) << 32 | place as u64;
        }
        for node in (1..size).rev() {
            nodes[node] = nodes[2 * node].max(nodes[2 * node + 1]);
        }
        Self { size, nodes }
    }

    pub fn set(&mut self, place: usize, number: u32) {
        let mut node = self.size + place;
        self.nodes[node] = u64::from(number) << 32 | place as u64;
        while node > 1 {
            node /= 2;
            let greatest = self.nodes[2 * node].max(self.nodes[2 * node + 1]);
            if self.nodes[node] == greatest {
                return;
            }
            self.nodes[node] = greatest;
        }
    }

    /// The greatest number from `from` to before `to`, which is behind it, and a place that has it.
    pub fn greatest(&self, from: usize, to: usize) -> (u32, usize) {
        let (mut low, mut high) = (from + self.size, to + self.size);
        let mut greatest = 0;
        while low < high {
            if low & 1 == 1 {
                greatest = greatest.max(self.nodes[low]);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                greatest = greatest.max(self.nodes[high]);
            }
            low /= 2;
            high /= 2;
        }
        ((greatest >> 32) as u32, greatest as u32 as usize)
    }
}

/// Numbers, to whole intervals of which something is added, with the least of any interval.
pub(super) struct Sums {
    size: usize,
    /// The least below a node, what was added to nodes above it not included.
    least: Vec<i32>,
    added: Vec<i32>,
}

impl Sums {
    pub fn new(numbers: impl ExactSizeIterator<Item = i32>) -> Self {
        let size = numbers.len().next_power_of_two();
        let mut least = vec![0; 2 * size];
        for (place, number) in numbers.enumerate() {
            least[size + place] = number;
        }
        for node in (1..size).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Self { size, least, added: vec![0; size] }
    }

    /// Adds to all numbers from `from` to before `to`.
    pub fn add(&mut self, from: usize, to: usize, number: i32) {
        if from < to {
            self.add_below(1, 0, self.size, (from, to), number);
        }
    }

    fn add_below(&mut self, node: usize, from: usize, to: usize, wanted: (usize, usize), sum: i32) {
        if wanted.1 <= from || to <= wanted.0 {
            return;
        }
        if wanted.0 <= from && to <= wanted.1 {
            self.least[node] += sum;
            if node < self.size {
                self.added[node] += sum;
            }
            return;
        }
        let middle = usize::midpoint(from, to);
        self.add_below(2 * node, from, middle, wanted, sum);
        self.add_below(2 * node + 1, middle, to, wanted, sum);
        self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
    }

    /// The first place from `from` to before `to` whose number is at most `most`.
    pub fn first_at_most(&self, from: usize, to: usize, most: i32) -> Option<usize> {
        if from < to { self.first_below(1, 0, self.size, (from, to), most) } else { None }
    }

    fn first_below(
        &self,
        node: usize,
        from: usize,
        to: usize,
        wanted: (usize, usize),
        most: i32,
    ) -> Option<usize> {
        if wanted.1 <= from || to <= wanted.0 || self.least[node] > most {
            return None;
        }
        if node >= self.size {
            return Some(from);
        }
        let middle = usize::midpoint(from, to);
        let most = most - self.added[node];
        self.first_below(2 * node, from, middle, wanted, most)
            .or_else(|| self.first_below(2 * node + 1, middle, to, wanted, most))
    }
}

#[cfg(test)]
mod tests {
    use super::{Peaks, Sums};

    /// A sequence of numbers that looks random.
    fn draws() -> impl FnMut(usize) -> usize {
        let mut seed = 7_u64;
        move |bound| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        }
    }

    #[test]
    fn trees_agree_with_lists() {
        let mut draw = draws();
        for length in 1..20 {
            let mut numbers: Vec<u32> = (0..length).map(|_| draw(50) as u32).collect();
            let mut peaks = Peaks::new(numbers.iter().copied());
            let mut sums: Vec<i32> = (0..length).map(|_| draw(9) as i32 - 4).collect();
            let mut tree = Sums::new(sums.iter().copied());
            for _ in 0..200 {
                let place = draw(length);
                numbers[place] = draw(50) as u32;
                peaks.set(place, numbers[place]);
                let from = draw(length);
                let to = from + 1 + draw(length - from);
                let (found, at) = peaks.greatest(from, to);
                assert_eq!(Some(found), numbers[from..to].iter().copied().max());
                assert_eq!(numbers[at], found);
                let added = draw(7) as i32 - 3;
                sums[from..to].iter_mut().for_each(|sum| *sum += added);
                tree.add(from, to, added);
                let (from, most) = (draw(length), draw(9) as i32 - 4);
                let expected = (from..length).find(|&at| sums[at] <= most);
                assert_eq!(tree.first_at_most(from, length, most), expected);
            }
        }
    }
}
