//! Wires one evaluation.
