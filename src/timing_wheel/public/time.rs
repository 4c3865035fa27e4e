use super::TimingWheel;
use crate::timing_wheel::Progress;
use crate::timing_wheel::key::{Expired, Key};

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// Returns the tick to advance to next, or `None` if the wheel is empty.
    ///
    /// This is the earliest deadline or, if many entries are near, that of an entry which was removed or
    /// rescheduled: an advance to that tick fires nothing. It is later than [`now`](Self::now), unless an
    /// advance stopped early, because of its budget or a panic. The search reads at most 16 entries per
    /// level.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<()>::new();
    /// assert_eq!(wheel.next_expiration(), None);
    /// wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.next_expiration(), Some(1_000_003));
    /// ```
    #[must_use]
    #[inline]
    pub fn next_expiration(&self) -> Option<u64> {
        self.raw.next_expiration()
    }

    /// Returns the key of an entry with the earliest deadline, or `None` if the wheel is empty. The search
    /// reads all entries in the first occupied slot of one or more levels, however many these are.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<()>::new();
    /// let later = wheel.insert(1_000_004, ()).unwrap();
    /// let first = wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.first(), Some(first));
    /// ```
    #[must_use]
    pub fn first(&self) -> Option<Key> {
        let index = self.raw.first()?;
        let stamp = self.raw.get(index)?.stamp;
        Some(Key { index, stamp })
    }

    /// Advances the clock to `to`, and calls `fire` with each entry that is due by then.
    ///
    /// Entries fire in the order of their deadlines; the order within a tick is unspecified. Empty slots
    /// cost nothing, however many of them the clock passes. If `fire` panics, only the entry that it
    /// was called with is lost.
    ///
    /// The clock never goes back. If `to` is earlier than [`now`](Self::now), this only fires the entries
    /// that an advance which stopped early has left behind.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::new();
    /// for deadline in [3, 1, 2, 9] {
    ///     wheel.insert(deadline, deadline * 10).unwrap();
    /// }
    /// let mut fired = Vec::new();
    /// wheel.advance(5, |expired| fired.push(expired.value));
    /// assert_eq!(fired, [10, 20, 30]);
    /// ```
    #[inline]
    pub fn advance(&mut self, to: u64, fire: impl FnMut(Expired<T>)) {
        let progress = self.advance_bounded(to, usize::MAX, fire);
        debug_assert!(progress.is_caught_up(), "ran out of an unlimited budget");
    }

    /// Advances the clock like [`advance`](Self::advance), but stops after a bounded amount of work.
    ///
    /// Each entry that fires, or cascades to a lower level, uses up 1 of `budget`. If the budget is
    /// used up before everything is done, the clock stops on the way, and the next advance continues
    /// from there.
    ///
    /// ```
    /// use wheel::timing_wheel::{Progress, TimingWheel};
    ///
    /// let mut wheel = TimingWheel::new();
    /// for deadline in [3, 1, 2] {
    ///     wheel.insert(deadline, deadline * 10).unwrap();
    /// }
    /// let mut fired = Vec::new();
    /// let progress = wheel.advance_bounded(5, 2, |expired| fired.push(expired.value));
    /// assert_eq!((progress, wheel.now()), (Progress::Unfinished, 3));
    /// assert!(wheel.advance_bounded(5, 2, |expired| fired.push(expired.value)).is_caught_up());
    /// assert_eq!(fired, [10, 20, 30]);
    /// ```
    #[inline]
    pub fn advance_bounded(
        &mut self,
        to: u64,
        budget: usize,
        mut fire: impl FnMut(Expired<T>),
    ) -> Progress {
        let progress = self
            .raw
            .advance(to, 0, 0, budget, &mut |index, deadline, stamped| {
                fire(stamped.expired(index, deadline));
            });
        drop(self.raw.take_garbage());
        progress
    }

    /// Advances the clock like [`advance`](Self::advance), but lets each entry that fires stay in
    /// the wheel with another deadline.
    ///
    /// `fire` is called with the key, the deadline and the value of each entry that is due. It
    /// returns the next deadline of the entry, which keeps its key, or `None` to remove it.
    ///
    /// If the next deadline is not after `to`, the entry fires again within the same call, in order
    /// with all other entries. Periodic entries therefore skip no deadline, however far the clock
    /// advances. If the next deadline is not after the present one, the entry fires at the next tick.
    ///
    /// ```
    /// #[derive(Debug)]
    /// struct Poison { health: u32, ticks_left: u32 }
    ///
    /// let mut wheel = wheel::TimingWheel::new();
    /// let poison = wheel.insert(10, Poison { health: 100, ticks_left: 5 }).unwrap();
    /// let mut effect = |_key, deadline: u64, poison: &mut Poison| {
    ///     poison.health -= 7;
    ///     poison.ticks_left -= 1;
    ///     (poison.ticks_left > 0).then(|| deadline + 10)
    /// };
    /// wheel.advance_rearming(20, &mut effect);
    /// wheel.advance_rearming(43, &mut effect); // the frame took long, so the poison acts twice
    /// assert_eq!(wheel.get(poison).unwrap().health, 100 - 4 * 7);
    /// wheel.advance_rearming(50, &mut effect);
    /// assert!(wheel.is_empty());
    /// ```
    pub fn advance_rearming(
        &mut self,
        to: u64,
        mut fire: impl FnMut(Key, u64, &mut T) -> Option<u64>,
    ) {
        let progress = self
            .raw
            .advance_rearming(to, &mut |index, deadline, stamped| {
                fire(stamped.key(index), deadline, &mut stamped.value)
            });
        debug_assert!(progress.is_caught_up(), "ran out of an unlimited budget");
        drop(self.raw.take_garbage());
    }

    /// Advances the clock until an entry fires, `budget` is used up, or the clock is at `to`. Entries whose
    /// deadlines are at most `apart` ticks apart may fire in any order, so fewer of them cascade.
    #[inline]
    pub(crate) fn advance_to_one(
        &mut self,
        to: u64,
        apart: u64,
        budget: usize,
    ) -> (Option<Expired<T>>, Progress) {
        let mut expired = None;
        let progress = self
            .raw
            .advance_with(to, 0, apart, budget, &mut |raw, index, deadline| {
                let stamped = raw.entries.remove(index).value;
                expired = Some(stamped.expired(index, deadline));
                false
            });
        drop(self.raw.take_garbage());
        (expired, progress)
    }

    pub(crate) fn turn_back(&mut self, now: u64) {
        self.raw.turn_back(now);
        drop(self.raw.take_garbage());
    }
}
