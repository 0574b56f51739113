//! An address in groups of four, so that eyes can compare it with what the wallet shows.

/// Characters of one group.
const GROUP: usize = 4;

/// The address cut into groups; joined they are the address again, since what is shown must be what is copied.
///
/// A prefix such as `bitcoincash:` is a separate group.
pub fn groups(address: &str) -> Vec<&str> {
    let mut groups = Vec::new();
    let mut rest = address;
    if let Some((prefix, after)) = address
        .find(':')
        .and_then(|at| rest.split_at_checked(at + 1))
    {
        groups.push(prefix);
        rest = after;
    }
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(GROUP)
            .map_or(rest.len(), |(at, _)| at);
        let (group, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        groups.push(group);
        rest = after;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_four_characters_and_the_last_what_is_left() {
        assert_eq!(groups("bc1qxy2kg"), ["bc1q", "xy2k", "g"]);
    }

    #[test]
    fn a_prefix_stands_alone() {
        assert_eq!(groups("bitcoincash:qpm2"), ["bitcoincash:", "qpm2"]);
    }

    #[test]
    fn joined_groups_are_the_address() {
        for address in [
            "",
            "T",
            "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
            "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
            "ünïcödé",
        ] {
            assert_eq!(groups(address).concat(), address);
        }
    }
}
