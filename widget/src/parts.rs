//! What a shop's style sheet reaches inline by `::part()`; docs/themes.md promises it.

/// The first class of an element, or its tag, and the parts it is. What is not listed is nobody's but ours.
const PARTS: [(&str, &str); 19] = [
    ("florin", "checkout"),
    ("summary", "summary"),
    ("store", "store"),
    ("price", "price"),
    ("main", "main"),
    ("h2", "heading"),
    ("banner", "banner"),
    ("box", "box"),
    ("option", "option"),
    ("amount", "amount"),
    ("countdown", "countdown"),
    ("warnings", "warnings"),
    ("qr", "qr"),
    ("address", "address"),
    ("steps", "steps"),
    ("input", "input"),
    ("primary", "button primary"),
    ("secondary", "button secondary"),
    ("plain", "button plain"),
];

/// The parts of an element with these classes.
pub fn of(tag: &str, classes: &str) -> Option<&'static str> {
    let class = classes.split(' ').next().unwrap_or_default();
    // A box to tick is no field.
    let known = |(name, _): &&(&str, &str)| *name == class || (*name == tag && class != "tick-box");
    PARTS.iter().find(known).map(|(_, parts)| *parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_goes_by_the_first_class_or_by_the_tag() {
        for (tag, classes, parts) in [
            ("div", "box doubtful", Some("box")),
            ("button", "secondary copy", Some("button secondary")),
            ("h2", "", Some("heading")),
            ("input", "search", Some("input")),
            ("input", "tick-box", None),
            ("p", "quiet box", None),
        ] {
            assert_eq!(of(tag, classes), parts, "{tag}.{classes}");
        }
    }

    #[test]
    fn every_part_is_in_the_documentation() {
        let docs = include_str!("../../docs/themes.md");
        for part in PARTS.iter().flat_map(|(_, parts)| parts.split(' ')) {
            assert!(docs.contains(&format!("`{part}`")), "{part}");
        }
    }
}
