//! cargo xtask demo, test, build, budget, bench.

fn main() {}
