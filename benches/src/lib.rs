//! What `make bench` measures: the keys, and the results as data. The benchmark (`benches/speed`) writes
//! results, the report (`src/bin/report`) turns them into tables and plots.

pub mod keys;
mod machine;
mod results;

pub use machine::Machine;
pub use results::{KeyKind, RATE, Results, Row, Threads, Work, name};
