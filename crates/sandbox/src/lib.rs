//! The payment service itself, for development and tests.
