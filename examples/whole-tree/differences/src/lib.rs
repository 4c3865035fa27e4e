//! Nothing: what there is is in `tests`.
