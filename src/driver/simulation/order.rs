//! The order of the threads' steps, drawn at random.

use std::ops::Range;

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// Draws one order for each seed: either each step is of any thread, or threads have priorities, of
/// which the running one's is lowered now and then, as in probabilistic concurrency testing.
pub(super) struct Order {
    seeds: Range<u64>,
    seed: Option<u64>,
    state: u64,
    /// A thread goes on for so many steps on average, or for one if this is zero.
    steps: u64,
    priorities: Vec<u64>,
    lowest: u64,
}

impl Order {
    pub(super) fn new(seeds: Range<u64>) -> Self {
        Order {
            seeds,
            seed: None,
            state: 0,
            steps: 0,
            priorities: Vec::new(),
            lowest: 0,
        }
    }

    fn draw(&mut self, sides: u64) -> u64 {
        self.next_u64() % sides
    }
}

impl Scheduler for Order {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.seed = self.seeds.next();
        self.state = self.seed?;
        self.steps = [0, 0, 4, 16, 64, 256, 1024][self.draw(7) as usize];
        self.priorities.clear();
        self.lowest = 1 << 32;
        Some(Schedule::new(self.state))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        now: Option<TaskId>,
        yields: bool,
    ) -> Option<TaskId> {
        if self.steps == 0 {
            let next = self.draw(runnable.len() as u64);
            return Some(runnable[next as usize].id());
        }
        let ids = || runnable.iter().map(|task| task.id());
        let most = ids().map(usize::from).max()?;
        while self.priorities.len() <= most {
            let priority = (1 << 32) + self.draw(1 << 32);
            self.priorities.push(priority);
        }
        if let Some(now) = now.filter(|_| yields || self.draw(self.steps) == 0) {
            self.lowest -= 1;
            self.priorities[usize::from(now)] = self.lowest;
        }
        ids().max_by_key(|&id| self.priorities[usize::from(id)])
    }

    /// SplitMix64.
    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        if let Some(seed) = self.seed {
            eprintln!(
                "the schedule failed: SIMULATION_SEED={seed} SIMULATION_SCHEDULES=1 replays it"
            );
        }
    }
}
