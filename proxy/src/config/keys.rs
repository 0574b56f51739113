//! How a key is documented.

/// A key, its variable, its default, and what it is for.
pub(crate) type Key = (&'static str, &'static str, &'static str, &'static str);
