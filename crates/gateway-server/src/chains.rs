//! The drivers of real chains.
