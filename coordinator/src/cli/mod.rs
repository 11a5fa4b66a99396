//! The commands: parse, delegate, map errors to exit codes.
