//! Models of races between the threads of a driver. Each model runs in every order of the threads that
//! has at most four preemptions.
//!
//! The driver, its shards, its alarm, its timers and its passes are real. `platform/model` replaces
//! Tokio, and the kernel's timer. There, every thread counts as a worker of every shard. A model arms
//! timers, and usually lets two threads race. After that, it usually lets the runtime run alone until
//! nothing is armed, which shows every wake-up that was lost. If an entry is freed twice, the wheel
//! panics. If a stale key is used, another timer is late or gone.
//!
//! Only models know the order of memory, and only they try every order. What involves more threads, or
//! the choice of a timer's runtime and home, is left to the simulation.
//!
//! `.ci/run loom` runs all models: once with one timer or late cancel per critical section, and once
//! with two (`LOOM_BATCH=2` while compiling). To run one model, give its full path, because a part of
//! a name may match several:
//! `RUSTFLAGS="--cfg loom" cargo test --lib driver::loom::orders::loom_arm_and_arm -- --exact`.
//!
//! `.ci/breakages` lists changes that break the driver, and the models that fail then.
//! `.ci/run breakages` makes each change in a copy, and checks that these models do fail.

mod model;
mod orders;
