//! Cells times iterations, in an order shuffled in blocks by a printed seed.
