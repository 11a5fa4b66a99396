//! Where test cases come from.
