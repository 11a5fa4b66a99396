//! Who runs what next: a pure state and the task that feeds it.
