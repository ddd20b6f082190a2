//! Readable forms of large numbers.

use std::time::Duration;

/// Formats as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats as `48.0 MiB`.
pub fn memory(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

/// Formats as `0.012 s` or `83.1 s`.
pub fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.3} s") } else { format!("{seconds:.1} s") }
}

/// Returns text such as `at most 2 operations by each process`; `each`: bounds of their own, if there
/// are any.
pub fn bound_on_operations(all: Option<u32>, each: &[u32]) -> String {
    let each: Vec<String> = each.iter().map(u32::to_string).collect();
    match all {
        _ if !each.is_empty() => format!("at most {} operations", each.join(", ")),
        None => "any number of operations".to_owned(),
        Some(1) => "at most 1 operation by each process".to_owned(),
        Some(bound) => format!("at most {bound} operations by each process"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_and_units_chosen() {
        assert_eq!(
            [count(0), count(999), count(1_000), count(62_055_312)],
            ["0", "999", "1,000", "62,055,312"]
        );
        assert_eq!(
            [memory(0), memory(1023), memory(1024), memory(5 << 30)],
            ["0 B", "1023 B", "1.0 KiB", "5.0 GiB"]
        );
        assert_eq!(seconds(Duration::from_millis(12)), "0.012 s");
        assert_eq!(seconds(Duration::from_millis(83_140)), "83.1 s");
    }
}
