//! Decimal digits, eight bytes at a time.

/// Returns the number that the leading ASCII digits of eight bytes (the first in the lowest bits)
/// form, and the number of digits, from 0 to 8. No loop and one branch: nearly all values have up
/// to seven digits, and their number of digits cannot be predicted.
#[inline(always)]
pub(super) fn leading_digits(chunk: u64) -> (u64, u32) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // A byte is a digit iff its value minus '0', here by exclusive or, is at most 9: then adding
    // 0x76 leaves its top bit clear. Carries only disturb bytes after the first non-digit.
    let digits = chunk ^ (EACH * 0x30);
    let others = (digits.wrapping_add(EACH * 0x76) | digits) & (EACH * 0x80);
    let length = others.trailing_zeros() / 8;
    if length == 0 {
        return (0, 0);
    }
    // Shifted up, the missing leading digits are zeros; then tens with ones,
    // hundreds with those, and so on are combined pairwise.
    let digits = digits << (8 * (8 - length));
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let eight = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff;
    (eight, length)
}

#[cfg(test)]
mod tests {
    use super::leading_digits;

    #[test]
    fn counts_digits_before_every_other_byte() {
        for length in 0..=8usize {
            for next in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                // The bytes after the first other byte do not matter.
                for rest in [b'0', b'9', 0, 0xff] {
                    let mut chunk = [rest; 8];
                    chunk[..length].copy_from_slice(&b"90817263"[..length]);
                    if length < 8 {
                        chunk[length] = next;
                    }
                    let digits = std::str::from_utf8(&chunk[..length]).unwrap();
                    let expected = (digits.parse().unwrap_or(0), length as u32);
                    assert_eq!(leading_digits(u64::from_le_bytes(chunk)), expected, "{chunk:?}");
                }
            }
        }
    }
}
