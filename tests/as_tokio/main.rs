//! A program does on these timers what it does on `tokio::time`, whose behaviour is right by definition.
//!
//! | folder | what is tested |
//! | --- | --- |
//! | `twins/` | programs written by hand end in the same way on both, even if they panic or hang |
//! | `random/` | random programs finish the same operations in the same way on both |
//! | `assumptions/` | Tokio does what the driver assumes of it, beyond Tokio's documentation |

mod assumptions;
mod random;
mod twins;
