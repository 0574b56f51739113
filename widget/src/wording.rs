//! Texts with gaps.

/// What stands before and after the one gap of `template`.
pub fn around(template: &str) -> (&str, &str) {
    let (before, rest) = template.split_once('{').unwrap_or((template, ""));
    let (_, after) = rest.split_once('}').unwrap_or_default();
    (before, after)
}

/// Fills each `{name}` of `template`; a gap without a value stays visible, since a test looks for it.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    // Split, never sliced: a slice's failure message would cost every customer three kilobytes.
    while let Some((before, gap)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = gap.split_once('}') else {
            text.push('{');
            rest = gap;
            break;
        };
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => text.push_str(value),
            None => ["{", name, "}"]
                .into_iter()
                .for_each(|part| text.push_str(part)),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
