//! The drivers of chains against real nodes.

#![cfg(test)]

mod bitcoin;
mod evm;
