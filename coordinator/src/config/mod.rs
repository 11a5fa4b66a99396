//! eval.yaml: as written, then resolved.
