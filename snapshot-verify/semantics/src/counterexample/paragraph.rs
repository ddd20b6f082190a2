//! Text in lines.

/// Breaks a text between words, and words that are longer than a line.
pub(super) fn lines(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    // How much is free in the last line.
    let mut free = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if length < free {
            if let Some(line) = lines.last_mut() {
                line.push(' ');
                line.push_str(word);
            }
            free -= length + 1;
            continue;
        }
        let letters: Vec<char> = word.chars().collect();
        lines.extend(letters.chunks(width).map(|piece| piece.iter().collect::<String>()));
        free = (width - length % width) % width;
    }
    lines
}

/// The text, filled up with spaces.
pub(super) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}
