//! Texts with gaps.

/// Fills each `{name}` of `template`; a gap without a value stays visible, since a test looks for it.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (before, gap) = rest.split_at(start);
        text.push_str(before);
        let Some(end) = gap.find('}') else {
            rest = gap;
            break;
        };
        let name = &gap[1..end];
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => text.push_str(value),
            None => text.push_str(&gap[..=end]),
        }
        rest = &gap[end + 1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
