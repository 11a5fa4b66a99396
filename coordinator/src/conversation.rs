//! After each turn: send an answer or finish.
