//! Breaks text into lines.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Breaks a text at spaces; a word longer than a line is broken, too.
pub(super) fn lines(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}
