//! Iterators over the entries of a wheel.

use std::convert::identity;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::TimingWheel;
use super::core::{Entry, PAGE_BITS};
use super::key::{Key, Stamped};
use super::paged_slab;

/// Key, deadline and value of all entries, in no particular order: [`TimingWheel::iter`].
///
/// ```
/// # use wheel::timing_wheel::{Iter, TimingWheel};
/// let mut wheel = TimingWheel::new();
/// wheel.insert(5, "five").unwrap();
/// let mut all: Iter<'_, &str> = wheel.iter();
/// assert_eq!(all.len(), 1);
/// assert!(all.any(|(_, deadline, &value)| (deadline, value) == (5, "five")));
/// ```
pub struct Iter<'a, T> {
    entries: paged_slab::Iter<'a, Entry<Stamped<T>>, PAGE_BITS>,
}

/// [`Iter`] whose values can be changed: [`TimingWheel::iter_mut`].
///
/// ```
/// # use wheel::timing_wheel::{IterMut, TimingWheel};
/// let mut wheel = TimingWheel::new();
/// wheel.insert(5, 1).unwrap();
/// let all: IterMut<'_, u32> = wheel.iter_mut();
/// all.for_each(|(_, _, value)| *value += 1);
/// ```
pub struct IterMut<'a, T> {
    entries: paged_slab::IterMut<'a, Entry<Stamped<T>>, PAGE_BITS>,
}

/// Deadline and value of all entries of a wheel that is no more, in no particular order.
///
/// ```
/// # use wheel::timing_wheel::{IntoIter, TimingWheel};
/// let mut wheel = TimingWheel::new();
/// wheel.insert(5, "five").unwrap();
/// let mut all: IntoIter<&str> = wheel.into_iter();
/// assert_eq!(all.next(), Some((5, "five")));
/// ```
pub struct IntoIter<T> {
    entries: paged_slab::IntoIter<Entry<Stamped<T>>, PAGE_BITS>,
}

/// Deadline and value of all entries, which are removed: [`TimingWheel::drain`].
///
/// ```
/// # use wheel::timing_wheel::{Drain, TimingWheel};
/// let mut wheel = TimingWheel::new();
/// wheel.insert(5, "five").unwrap();
/// let mut all: Drain<'_, &str> = wheel.drain();
/// assert_eq!(all.next(), Some((5, "five")));
/// ```
pub struct Drain<'a, T> {
    entries: IntoIter<T>,
    /// The wheel is empty already. The borrow leaves room for another implementation.
    wheel: PhantomData<&'a mut T>,
}

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// All entries in no particular order: key, deadline, value.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// wheel.insert(5, "five").unwrap();
    /// let all: Vec<_> = wheel.iter().map(|(_, deadline, value)| (deadline, *value)).collect();
    /// assert_eq!(all, [(5, "five")]);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            entries: self.core.entries.iter(),
        }
    }

    /// All entries in no particular order: key, deadline, and value to be changed.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(5, 1).unwrap();
    /// for (_, deadline, value) in wheel.iter_mut() {
    ///     *value += deadline;
    /// }
    /// assert_eq!(wheel.get(key), Some(&6));
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut {
            entries: self.core.entries.iter_mut(),
        }
    }

    /// Removes all entries, and yields the deadline and value of each in no particular order.
    ///
    /// They are removed even if the iterator is not used up. The clock stays, and old keys stay
    /// stale.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// wheel.insert(7, 'x').unwrap();
    /// assert_eq!(wheel.drain().collect::<Vec<_>>(), [(7, 'x')]);
    /// assert!(wheel.is_empty());
    /// ```
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain {
            entries: IntoIter {
                entries: self.take_core().entries.into_iter(),
            },
            wheel: PhantomData,
        }
    }
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        let entries = self.entries.clone();
        Iter { entries }
    }
}

/// The iterators differ only in the item that they make of an entry.
macro_rules! iterators {
    ($($iter:ident<$($life:lifetime,)? T> of $item:ty: $made:expr;)*) => {$(
        impl<$($life,)? T> Iterator for $iter<$($life,)? T> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                self.entries.next().map($made)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.entries.size_hint()
            }
        }

        impl<$($life,)? T> ExactSizeIterator for $iter<$($life,)? T> {}
        impl<$($life,)? T> FusedIterator for $iter<$($life,)? T> {}

        impl<$($life,)? T> fmt::Debug for $iter<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = stringify!($iter);
                f.debug_struct(name).field("left", &self.len()).finish_non_exhaustive()
            }
        }
    )*};
}

iterators! {
    Iter<'a, T> of (Key, u64, &'a T):
        |(index, Entry { value, deadline, .. })| (value.key(index), *deadline, &value.value);
    IterMut<'a, T> of (Key, u64, &'a mut T):
        |(index, Entry { value, deadline, .. })| (value.key(index), *deadline, &mut value.value);
    IntoIter<T> of (u64, T): |(_, Entry { value, deadline, .. })| (deadline, value.value);
    Drain<'a, T> of (u64, T): identity;
}

impl<'a, T, const SLOTS: usize> IntoIterator for &'a TimingWheel<T, SLOTS> {
    type Item = (Key, u64, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T, const SLOTS: usize> IntoIterator for &'a mut TimingWheel<T, SLOTS> {
    type Item = (Key, u64, &'a mut T);
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T, const SLOTS: usize> IntoIterator for TimingWheel<T, SLOTS> {
    type Item = (u64, T);
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter {
            entries: self.core.entries.into_iter(),
        }
    }
}
