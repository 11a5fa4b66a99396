//! Conversions between the generated messages and the checked types.
