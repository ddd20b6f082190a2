//! The owner of an object among several workers.

use crate::Value;

/// Returns the worker, of this many, that judges the object with this key. The same in each run, on
/// each machine: FNV-1a, 64 bits (Fowler, Noll, Vo), of the key's kind and bytes, and then the
/// finalizer of MurmurHash3, since the high bits decide and the last byte hardly changes them.
///
/// # Panics
/// If `workers` is 0.
pub fn owner(key: &Value, workers: usize) -> usize {
    assert!(workers > 0, "an object belongs to a worker");
    let hash = match key {
        Value::Integer(number) => fnv(b'i', &number.to_le_bytes()),
        Value::Text(text) => fnv(b't', text.as_bytes()),
    };
    ((u128::from(mix(hash)) * workers as u128) >> 64) as usize
}

fn fnv(kind: u8, bytes: &[u8]) -> u64 {
    let begin = 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(step(begin, &kind), step)
}

const fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checkpoints and other machines rely on these.
    #[test]
    fn owners_are_pinned() {
        // The published values of FNV-1a for "a" and "foobar".
        assert_eq!(fnv(b'a', b""), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b'f', b"oobar"), 0x8594_4171_f739_67e8);
        let owners = |key: Value| [1, 2, 3, 5, 1000].map(|workers| owner(&key, workers));
        assert_eq!(owners(Value::from(7)), [0, 1, 2, 4, 944]);
        assert_eq!(owners(Value::from("7")), [0, 0, 0, 1, 297]);
    }

    #[test]
    fn objects_are_distributed_evenly() {
        for workers in [2, 3, 8] {
            let mut counts = vec![0; workers];
            for key in 0..1000 {
                counts[owner(&Value::from(key), workers)] += 1;
                counts[owner(&Value::from(format!("user-{key}").as_str()), workers)] += 1;
            }
            let even = 2000 / workers;
            assert!(
                counts.iter().all(|count| (even * 4 / 5..even * 6 / 5).contains(count)),
                "{counts:?}"
            );
        }
    }
}
