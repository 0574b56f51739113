//! Themes of the checkout.

/// The themes by name; `auto` is `light` or `dark` as the customer's system has it.
pub const THEMES: [&str; 7] = [
    "auto", "light", "dark", "contrast", "paper", "midnight", "sorbet",
];

/// Tokens that a store may override: `--florin-…` of the element, without its beginning.
pub const TOKENS: [&str; 12] = [
    "accent",
    "on-accent",
    "background",
    "surface",
    "text",
    "text-muted",
    "border",
    "warning",
    "danger",
    "radius",
    "font",
    "density",
];
