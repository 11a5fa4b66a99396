//! Test cases: the model and one reader per format.
