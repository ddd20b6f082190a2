//! Meanings of words and their declarations; outlines.

use snapshot_language::{Item, ItemKind, MeaningText, outline, parse};

const TEXT: &str = "\
algorithm words
type pair = record (val: value, seq: counter)
shared r[segment]: pair
shared x: llsc 0..n
private own: pair := (initial, 0)

# A comment with own and r.
update(v):
    own := (v, own.seq + 1)
    r[me] := own
    note(own.seq)

procedure note(c: counter):
    local seen[segment]: bool
    for s in segments: seen[s] := true
    for s in processes:
        y := LL(x)
        if y < n: SC(x, n)

scan:
    w := [r2.val for r2q in segments]
    return w

bug twice \"writes twice\":
    in update, replace `own := (v, own.seq + 1)` by `own := (v, own.seq)`

expect twice, n = 3: violation
";

/// Returns the text with a correct scan.
fn text() -> String {
    TEXT.replace(
        "    w := [r2.val for r2q in segments]\n    return w\n",
        "    local w[segment]: value\n    for k in segments:\n        cell := r[k]\n        w[k] := cell.val\n    return w\n",
    )
}

/// Returns the meaning of a word, and the text from its declaration to the end of the line. The
/// word begins at the mark `^` in `at`, within the `number`th occurrence of that text.
fn meaning(text: &str, at: &str, number: usize) -> Option<(String, Option<String>)> {
    let algorithm = parse("words", text).unwrap();
    let (before, after) = at.split_once('^').unwrap();
    let (begin, _) = text.match_indices(&format!("{before}{after}")).nth(number).unwrap();
    let place = (begin + before.len()) as u32;
    let meaning = algorithm.meaning(place)?;
    assert_eq!(meaning.span.begin, place);
    // The end of a word belongs to it, too.
    assert_eq!(algorithm.meaning(meaning.span.end).map(|m| m.span), Some(meaning.span));
    let said = match meaning.text {
        MeaningText::Declaration(text) => text,
        MeaningText::Word(text) => format!("({text})"),
    };
    let declared =
        meaning.declared.map(|span| text[span.begin as usize..].lines().next().unwrap().to_owned());
    Some((said, declared))
}

#[test]
fn names_resolve_to_their_declarations() {
    let text = text();
    let cases = [
        ("    ^r[me]", 0, "shared r[segment]: pair", "r[segment]: pair"),
        ("^own := (v", 0, "private own: pair := (initial, 0)", "own: pair := (initial, 0)"),
        ("(^v, own", 0, "v: value", "v):"),
        ("    ^note(", 0, "procedure note(c: counter)", "note(c: counter):"),
        ("]: ^pair", 0, "type pair = record (val: value, seq: counter)", "pair = record"),
        ("^seen[s] :=", 0, "seen: array [segment] of bool", "seen[segment]: bool"),
        ("seen[^s] :=", 0, "s: segment", "s in segments: seen[s] := true"),
        ("for ^s in pro", 0, "s: process", "s in processes:"),
        ("if ^y < n", 0, "y: 0..n", "y := LL(x)"),
        ("LL(^x)", 0, "shared x: llsc 0..n", "x: llsc 0..n"),
        // Within the text of an edit, names belong to the edited procedure.
        ("`own := (^v, own.seq)`", 0, "v: value", "v):"),
        ("in ^update, r", 0, "update(v)", "update(v):"),
        ("expect ^twice", 0, "bug twice \"writes twice\"", "twice \"writes twice\":"),
    ];
    for (at, number, said, declared) in cases {
        let (found, place) = meaning(&text, at, number).unwrap_or_else(|| panic!("{at}"));
        assert_eq!(found, said, "{at}");
        let place = place.unwrap();
        assert!(place.starts_with(declared), "{at}: {place}");
    }
}

#[test]
fn fields_have_types_and_keywords_a_description() {
    let text = text();
    assert_eq!(meaning(&text, "own.^seq + 1", 0), Some(("seq: counter".to_owned(), None)));
    assert_eq!(meaning(&text, "cell.^val", 0), Some(("val: value".to_owned(), None)));
    let (said, declared) = meaning(&text, "r[^me]", 0).unwrap();
    assert!(said.starts_with("(the process") && declared.is_none(), "{said}");
    // A comment, and a symbol that is not a word.
    assert_eq!(meaning(&text, "with ^own", 0), None);
    assert_eq!(meaning(&text, "own ^:=", 0), None);
    assert_eq!(parse("words", &text).unwrap().meaning(u32::MAX), None);
}

#[test]
fn names_resolve_despite_errors() {
    let text = text().replace("r[me] := own", "r[me] := 7");
    let algorithm = parse("words", &text).unwrap();
    assert!(algorithm.program(None).is_err());
    let (said, _) = meaning(&text, "^note(own", 0).unwrap();
    assert_eq!(said, "procedure note(c: counter)");
    assert_eq!(meaning(&text, "^seen[s] :=", 0).unwrap().0, "local seen[segment]: bool");
}

#[test]
fn words_in_an_object_resolve_to_its_own_names() {
    let text = include_str!("../../../../corpus/objects/ms_queue.snapshot");
    let cases = [
        ("append(^items", 0, "state items: list of value"),
        ("object ^queue", 0, "object queue"),
        ("\n^dequeue:\n    loop", 0, "dequeue"),
        ("CAS(^head", 0, "shared head: cas 0..2*n"),
    ];
    for (at, number, said) in cases {
        let at = at.trim_start_matches('\n');
        assert_eq!(meaning(text, at, number).unwrap().0, said, "{at}");
    }
}

#[test]
fn outline_lists_declarations_despite_errors() {
    let kinds = |text: &str| {
        outline(text).into_iter().map(|item| (item.kind, item.name.text)).collect::<Vec<_>>()
    };
    use ItemKind as K;
    let expected = [
        (K::Algorithm, "words"),
        (K::Type, "pair"),
        (K::Shared, "r"),
        (K::Shared, "x"),
        (K::Private, "own"),
        (K::Procedure, "update"),
        (K::Procedure, "note"),
        (K::Procedure, "scan"),
        (K::Bug, "twice"),
    ]
    .map(|(kind, name)| (kind, name.to_owned()));
    assert_eq!(kinds(&text()), expected);
    let broken =
        text().replace("own := (v, own.seq + 1)\n", "own := (((\n").replace("LL(x)", "LL(");
    assert_eq!(kinds(&broken), expected);
    let items = outline(TEXT);
    let Item { span, .. } = &items[5];
    let whole = &TEXT[span.begin as usize..span.end as usize];
    assert!(whole.starts_with("update(v):") && whole.ends_with("note(own.seq)"), "{whole}");
    assert_eq!(kinds(""), []);
    assert_eq!(kinds("shared\nbug\nprocedure 7\nalgorithm 7\n"), []);
}
