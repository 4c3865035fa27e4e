//! The passing of time: the next expiration, and the advance that fires due entries.

use super::TimingWheel;
use crate::wheel::Progress;
use crate::wheel::key::{Expired, Key};

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// The tick at which to advance next; `None` when empty. This tick is never later than the
    /// earliest deadline.
    ///
    /// The tick is the earliest deadline itself if that is within a turn of the lowest level, or
    /// if no more than 16 entries share its slot; else it may be the start of the slot. It is
    /// later than [`now`](Self::now), unless an unfinished advance has left entries over. At most
    /// 16 entries of each level are searched.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<()> = TimingWheel::new();
    /// assert_eq!(wheel.next_expiration(), None);
    /// wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.next_expiration(), Some(1_000_003));
    /// ```
    #[must_use]
    #[inline]
    pub fn next_expiration(&self) -> Option<u64> {
        self.core.next_expiration()
    }

    /// The key of the entry that is due first; `None` when empty. Of several due at the same tick,
    /// any.
    ///
    /// Searches the whole first slot of a level, or of several levels: the time is in proportion
    /// to the entries there.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<()> = TimingWheel::new();
    /// let later = wheel.insert(1_000_004, ()).unwrap();
    /// let first = wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.first(), Some(first));
    /// ```
    #[must_use]
    pub fn first(&self) -> Option<Key> {
        let index = self.core.first()?;
        let stamp = self.core.get(index)?.stamp;
        Some(Key { index, stamp })
    }

    /// Moves the clock to `to` and hands all entries due by then to `fire`, in the order of
    /// deadlines.
    ///
    /// Entries of the same tick come in no particular order. An entry that is not due cascades to
    /// a lower level, at most once a level. Empty slots cost nothing, so a long step costs no more
    /// than a short step. The clock never goes back: an earlier `to` does nothing, or fires
    /// entries that [`advance_bounded`](Self::advance_bounded) has left over. If `fire` panics,
    /// only the entry that it was given is lost.
    ///
    /// For entries that fire again and again, use [`advance_rearming`](Self::advance_rearming).
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
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
        debug_assert!(progress.is_caught_up(), "there are fewer entries than that");
    }

    /// [`advance`](Self::advance) that stops after a bounded amount of work, and can be continued.
    ///
    /// Each entry that fires, or cascades to a lower level, uses up 1 of `budget`. When the budget
    /// is used up and there is more to do, the clock stops on the way. The wheel can be used as
    /// usual then, and the next advance continues.
    ///
    /// ```
    /// # use wheel::timing_wheel::{Progress, TimingWheel};
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
            .core
            .advance(to, budget, &mut |index, deadline, stamped| {
                fire(Expired {
                    key: stamped.key(index),
                    deadline,
                    value: stamped.value,
                });
            });
        drop(self.core.take_garbage());
        progress
    }

    /// [`advance`](Self::advance) in which an entry may stay, for another deadline.
    ///
    /// `fire` is given the key, the deadline and the value, and says when the entry is due next;
    /// `None` removes the entry. An entry that stays keeps its key. A deadline that lies before
    /// `to` fires in the same call, in its turn among the others: none is lost, however far the
    /// clock has to go at once. A next deadline that is not after the present deadline counts as
    /// the tick after the present deadline.
    ///
    /// The time grows with the number of deadlines: an entry that is due every tick fires at every
    /// tick up to `to`. If `fire` panics, only the entry that it was given is lost.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// #[derive(Debug)]
    /// struct Poison { health: u32, ticks_left: u32 }
    ///
    /// let mut wheel = TimingWheel::new();
    /// let poison = wheel.insert(10, Poison { health: 100, ticks_left: 5 }).unwrap();
    /// let mut effect = |_key, deadline: u64, poison: &mut Poison| {
    ///     poison.health -= 7;
    ///     poison.ticks_left -= 1;
    ///     (poison.ticks_left > 0).then(|| deadline + 10)
    /// };
    /// wheel.advance_rearming(20, &mut effect);
    /// wheel.advance_rearming(43, &mut effect); // a frame took long: two ticks at once
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
            .core
            .advance_rearming(to, &mut |index, deadline, stamped| {
                fire(stamped.key(index), deadline, &mut stamped.value)
            });
        debug_assert!(progress.is_caught_up(), "there is no budget to use up");
        drop(self.core.take_garbage());
    }
}
