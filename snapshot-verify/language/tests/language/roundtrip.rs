//! The text of each variant has the variant's tree.

use crate::texts::{read, shape, texts};

#[test]
fn texts_of_variants_have_their_trees() {
    let mut variants = 0;
    for directory in [
        "right",
        "../../../../corpus/algorithms",
        "../../../../corpus/objects",
        "../../../../corpus/strong",
    ] {
        for (name, text) in texts(directory) {
            let algorithm = read(&name, &text);
            let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
            for variant in std::iter::once(None).chain(bugs) {
                let text = algorithm.text(variant).unwrap();
                let again = match snapshot_language::parse("variant.snapshot", &text) {
                    Ok(algorithm) => algorithm,
                    Err(error) => panic!("{text}\n{error}"),
                };
                let tree = algorithm.tree(variant).unwrap();
                assert_eq!(shape(&tree), shape(&again.tree(None).unwrap()), "{text}");
                assert_eq!(text, again.text(None).unwrap());
                variants += 1;
            }
        }
    }
    assert!(variants > 100, "{variants}");
}
