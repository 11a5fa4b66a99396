//! The worker's side of the Work stream and of the evidence upload.
