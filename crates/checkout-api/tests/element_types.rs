//! florin.d.ts: what TypeScript is told of the element is what the element has.

use std::fs;
use std::path::Path;

/// The quoted words between two marks.
fn words<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let (_, rest) = text.split_once(from).expect("the file has this place");
    let (list, _) = rest.split_once(to).expect("the place ends");
    list.split('\'').skip(1).step_by(2).collect()
}

#[test]
fn the_types_name_every_attribute_event_and_status() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| fs::read_to_string(root.join(name)).expect("a file of the repository");
    let (loader, types) = (read("widget/florin.js"), read("widget/florin.d.ts"));
    let attributes = words(&loader, "const ATTRIBUTES = [", "]");
    let (_, rest) = types
        .split_once("interface FlorinCheckoutAttributes")
        .unwrap();
    let (declared, _) = rest.split_once("\n}").unwrap();
    assert_eq!(declared.matches("?:").count(), attributes.len());
    for name in attributes {
        let plain = declared.contains(&format!("\n  {name}?:"));
        assert!(
            plain || declared.contains(&format!("\n  '{name}'?:")),
            "{name}"
        );
    }
    let events = words(&loader, "const EVENTS = [", "]");
    assert_eq!(types.matches("\n  'florin-").count(), events.len());
    for name in events {
        assert!(
            types.contains(&format!("\n  'florin-{name}': CustomEvent<")),
            "{name}"
        );
    }
    let statuses = words(&types, "export type FlorinStatus =", ";");
    let known = checkout_api::Status::ALL.map(|(_, word)| word);
    assert_eq!(statuses, known);
}
