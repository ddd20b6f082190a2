//! Texts with a uniform layout.

use std::sync::LazyLock;

use proptest::prelude::*;
use snapshot_language::{Algorithm, format, parse};

use crate::texts::{shape, texts};

/// Texts that parse, some with other errors.
static SAMPLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let corpus =
        ["algorithms", "objects", "small"].map(|name| std::format!("../../../../corpus/{name}"));
    let folders = ["right", "errors"].into_iter().chain(corpus.iter().map(String::as_str));
    let parses = |(_, text): &(String, String)| parse("x", text).is_ok();
    folders.flat_map(texts).filter(parses).collect()
});

/// Returns the trees of a text and its bugs, and its expectations.
fn meaning(algorithm: &Algorithm) -> Vec<String> {
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    let trees = std::iter::once(None).chain(bugs).map(|bug| {
        let description = algorithm.bugs().iter().find(|one| Some(one.name.text.as_str()) == bug);
        std::format!(
            "{:?}\n{}",
            description.map(|bug| &bug.description),
            shape(&algorithm.tree(bug).unwrap())
        )
    });
    let expected = algorithm.expectations().iter().map(ToString::to_string);
    trees.chain(expected).collect()
}

/// Returns the comments of a text, and the text outside of strings and quotations.
fn comments(text: &str) -> (Vec<String>, String) {
    let (mut comments, mut outside) = (Vec::new(), String::new());
    let (mut open, mut comment) = (None, None::<String>);
    for character in text.chars() {
        if open.is_none() {
            outside.push(character);
        }
        match (character, open, &mut comment) {
            ('\n', _, Some(_)) => comments.extend(comment.take()),
            (_, _, Some(comment)) => comment.push(character),
            ('#', None, None) => comment = Some(String::new()),
            ('"' | '`', None, None) => open = Some(character),
            (_, Some(mark), None) if mark == character => open = None,
            _ => {}
        }
    }
    comments.extend(comment);
    (comments.iter().map(|comment| comment.trim_end().to_owned()).collect(), outside)
}

/// Formats a text and checks the result.
fn formatted(name: &str, text: &str) -> Result<String, TestCaseError> {
    let Ok(before) = parse(name, text) else { return Err(TestCaseError::reject("no algorithm")) };
    let formatted = format(name, text).unwrap();
    let after = parse(name, &formatted)
        .map_err(|error| TestCaseError::fail(std::format!("{text}\n\n{formatted}\n{error}")))?;
    prop_assert_eq!(meaning(&before), meaning(&after), "{}", formatted);
    let (found, outside) = comments(&formatted);
    prop_assert_eq!(comments(text).0, found, "{}", formatted);
    prop_assert_eq!(&format(name, &formatted).unwrap(), &formatted, "not settled: {}", text);
    let is_uniform = |line: &str| line == line.trim_end() && !line.starts_with('\t');
    prop_assert!(formatted.lines().all(is_uniform), "{}", formatted);
    prop_assert!(!outside.contains("\n\n\n") && formatted.ends_with('\n'), "{}", formatted);
    Ok(formatted)
}

#[test]
fn texts_keep_their_meaning_and_comments() {
    assert!(SAMPLES.len() > 100, "{}", SAMPLES.len());
    for (name, text) in &*SAMPLES {
        formatted(name, text).unwrap();
    }
}

#[test]
fn shipped_texts_are_formatted() {
    for folder in ["algorithms", "objects", "small", "strong"] {
        for (name, text) in texts(&std::format!("../../../../corpus/{folder}")) {
            assert_eq!(text, formatted(&name, &text).unwrap(), "{folder}/{name}");
        }
    }
}

const UNTIDY: &str = "


# A comment before anything.
algorithm   untidy#1
shared a [ segment ] :value   :=initial
shared turn:0 .. n-1
private r : record( f:bool,g : 0..3 )


private m: array[segment] of(0..n -1)or none
update( v ):
  # of the block
  a [me]:=v ;turn := 1+ 2*1
     # of the procedure, by its column
scan :
        local copy[segment]:value # trailing
        for s in segments:copy[s]:=a [s]
        if (r . f)and not(r.g=2) :
          skip # aligned
          exit_later := r.g!=1# touching
            # still of the block
        # of the outer block
        else: skip
    # of the procedure
        r := (f: true,
                  # inside
         g: 0)
        return( copy )
# of nothing
bug   twice  \"two
    lines\":
  in scan, replace `if (r.f) and not (r.g = 2):
                      skip
                      exit_later := r.g != 1
                    else: skip` by `
     if r.f:
       skip
  `
expect twice,n=3,pair 0,1:violation



# the end


";

const TIDY: &str = "\
# A comment before anything.
algorithm untidy  #1
shared a[segment]: value := initial
shared turn: 0..n-1
private r: record(f: bool, g: 0..3)

private m: array[segment] of(0..n - 1) or none
update(v):
    # of the block
    a[me] := v; turn := 1 + 2*1
    # of the procedure, by its column
scan:
    local copy[segment]: value # trailing
    for s in segments: copy[s] := a[s]
    if (r.f) and not (r.g = 2):
        skip # aligned
        exit_later := r.g != 1 # touching
        # still of the block
    # of the outer block
    else: skip
    # of the procedure
    r := (f: true,
              # inside
     g: 0)
    return (copy)
# of nothing
bug twice \"two
 lines\":
    in scan, replace `if (r.f) and not (r.g = 2):
                        skip
                        exit_later := r.g != 1
                      else: skip` by `
       if r.f:
         skip
    `
expect twice, n = 3, pair 0,1: violation

# the end
";

#[test]
fn spaces_and_indentation_become_uniform() {
    assert_eq!(formatted("untidy", UNTIDY).unwrap(), TIDY);
}

#[test]
fn only_syntax_errors_have_no_layout() {
    let wrong = format("wrong", "algorithm wrong\nupdate(v):\n  a[ := v\n").unwrap_err();
    assert!(wrong.to_string().contains("wrong:3:"), "{wrong}");
    let text = "algorithm x\nupdate(v):\n  unknown := nothing\n";
    let formatted = formatted("x", text).unwrap();
    assert_eq!(formatted, "algorithm x\nupdate(v):\n    unknown := nothing\n");
    assert!(format("long", &"#".repeat(1 << 19)).is_err());
}

#[test]
fn carriage_returns_are_removed() {
    let text = "algorithm x\r\n\r\n\r\nupdate(v):\r\n  # c\r\n  skip\r\nbug b \"d\r\n  e\":\r\n  in update, delete `skip\r\n  `\r\n";
    let formatted = formatted("x", text).unwrap();
    assert!(!formatted.contains('\r'), "{formatted:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Changes white space at random, and removes lines.
    #[test]
    fn any_layout_is_made_uniform(
        which in any::<prop::sample::Index>(),
        factor in 1_usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..5), 0..12),
    ) {
        let (name, text) = which.get(&SAMPLES);
        let mut lines: Vec<String> = text.lines().map(|line| {
            let rest = line.trim_start_matches(' ');
            " ".repeat((line.len() - rest.len()) * factor) + rest
        }).collect();
        for (place, change) in changes {
            let at = place.index(lines.len().max(1)).min(lines.len() - 1);
            match change {
                0 => lines[at].push_str("  "),
                1 => lines[at].push_str(" # added"),
                2 => lines.insert(at, String::new()),
                3 => lines[at] = lines[at].replacen(": ", " :   ", 1),
                _ if lines.len() > 1 => drop(lines.remove(at)),
                _ => {}
            }
        }
        // Texts that no longer parse are skipped.
        match formatted(name, &lines.join("\n")) {
            Err(TestCaseError::Reject(_)) | Ok(_) => {}
            failed => failed.map(drop)?,
        }
    }
}
