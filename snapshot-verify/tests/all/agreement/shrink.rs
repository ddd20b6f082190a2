//! Smaller texts that still fail: lines are deleted together with the lines indented below them, or
//! replaced by these, as long as the failure remains.

/// Returns a locally smallest text for which `fails`: no further line can be deleted.
pub fn shrunk(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    loop {
        let before = lines.len();
        let length: usize = lines.iter().map(String::len).sum();
        for at in (0..lines.len()).rev() {
            if at >= lines.len() {
                continue;
            }
            for smaller in smaller(&lines, at) {
                if fails(&(smaller.join("\n") + "\n")) {
                    lines = smaller;
                    break;
                }
            }
        }
        if lines.len() == before && lines.iter().map(String::len).sum::<usize>() == length {
            return lines.join("\n") + "\n";
        }
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the texts without a line, or with less of it.
fn smaller(lines: &[String], at: usize) -> Vec<Vec<String>> {
    let depth = indentation(&lines[at]);
    let below = lines[at + 1..].iter();
    let end = at + 1 + below.take_while(|line| indentation(line) > depth).count();
    let with = |instead: Vec<String>, end: usize| {
        let mut changed = lines.to_vec();
        changed.splice(at..end, instead);
        changed
    };
    let mut found = vec![with(Vec::new(), end)];
    if end > at + 1 {
        let outdented = lines[at + 1..end].iter().map(|line| {
            let keep = indentation(line).saturating_sub(4).min(line.len());
            " ".repeat(keep) + line.trim_start()
        });
        found.push(with(outdented.collect(), end));
    }
    let line = &lines[at];
    // Drops the condition or the loop but not its body, or drops half of the condition.
    if let Some((_, rest)) = line.split_once(": ").filter(|_| depth > 0) {
        found.push(with(vec![" ".repeat(depth) + rest], at + 1));
    }
    for connective in [" and ", " or "] {
        if let Some((left, right)) = line.split_once(connective)
            && let Some((_, then)) = right.split_once(':')
        {
            found.push(with(vec![format!("{left}:{then}")], at + 1));
        }
    }
    found
}

#[test]
fn irrelevant_lines_are_deleted() {
    let text = "a\nb:\n    if x and y: c\n    loop:\n        d\n        e\n";
    let fails = |text: &str| text.contains("b:") && text.contains(" c") && text.contains(" e");
    assert_eq!(shrunk(text, fails), "b:\n    c\n    e\n");
}
