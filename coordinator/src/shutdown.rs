//! Ctrl-C and SIGTERM: first a clean stop, then a hard one.
