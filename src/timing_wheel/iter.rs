//! Iterators over the entries of the public wheel.

use std::convert::identity;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::TimingWheel;
use super::core::{Entry, PAGE_BITS};
use super::key::{Key, Stamped};
use super::paged_slab;

/// An iterator over the key, deadline and value of each entry, in no particular order.
///
/// [`TimingWheel::iter`] returns it.
///
/// # Examples
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

/// An iterator over the key, deadline and mutable value of each entry, in no particular order.
///
/// [`TimingWheel::iter_mut`] returns it.
///
/// # Examples
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

/// An iterator over the deadline and value of each entry of a consumed wheel, in no particular
/// order.
///
/// [`TimingWheel::into_iter`](IntoIterator::into_iter) returns it.
///
/// # Examples
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

/// An iterator over the deadline and value of each removed entry, in no particular order.
///
/// [`TimingWheel::drain`] returns it.
///
/// # Examples
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
    /// The wheel is already empty. The borrow allows another implementation in the future, which
    /// would remove entries one by one.
    wheel: PhantomData<&'a mut T>,
}

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// Returns an iterator over the key, deadline and value of each entry, in no particular order.
    ///
    /// # Examples
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

    /// Returns an iterator over the key, deadline and mutable value of each entry, in no particular
    /// order.
    ///
    /// # Examples
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

    /// Removes all entries, and returns an iterator over the deadline and value of each, in no
    /// particular order.
    ///
    /// All entries are removed even if the iterator is dropped before it is exhausted. The clock
    /// does not change, and the keys of the entries are stale.
    ///
    /// # Examples
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

/// Implements the iterators, which differ only in the item that they make from an entry.
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
