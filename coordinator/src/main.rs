//! The `mcproctor` command.

fn main() {}
