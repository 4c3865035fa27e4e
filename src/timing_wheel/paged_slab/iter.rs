//! Iterators over the values of all pages, followed by the survivors.

use std::borrow::Borrow;
use std::collections::btree_map;
use std::iter::{Enumerate, FusedIterator};
use std::{slice, vec};

use slab::Slab;

use super::PagedSlab;

/// An iterator over keys and values, page by page. `P` iterates over the remaining pages, `V` over
/// the values of one page, and `S` over the survivors.
#[derive(Clone, Debug)]
pub(crate) struct Pages<P, V, S, const BITS: u32> {
    pages: P,
    /// The current page and its number.
    page: Option<(usize, V)>,
    survivors: S,
    left: usize,
}

pub(crate) type Iter<'a, T, const BITS: u32> = Pages<
    Enumerate<slice::Iter<'a, Slab<T>>>,
    slab::Iter<'a, T>,
    btree_map::Iter<'a, u32, T>,
    BITS,
>;
pub(crate) type IterMut<'a, T, const BITS: u32> = Pages<
    Enumerate<slice::IterMut<'a, Slab<T>>>,
    slab::IterMut<'a, T>,
    btree_map::IterMut<'a, u32, T>,
    BITS,
>;
pub(crate) type IntoIter<T, const BITS: u32> =
    Pages<Enumerate<vec::IntoIter<Slab<T>>>, slab::IntoIter<T>, btree_map::IntoIter<u32, T>, BITS>;

/// Creates one of the three iterators, which differ only in how they borrow the slab.
macro_rules! pages {
    ($slab:expr, $iter:ident) => {{
        let left = $slab.len();
        Pages {
            pages: $slab.pages.$iter().enumerate(),
            page: None,
            survivors: $slab.survivors.$iter(),
            left,
        }
    }};
}

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    pub(crate) fn iter(&self) -> Iter<'_, T, BITS> {
        pages!(self, iter)
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T, BITS> {
        pages!(self, iter_mut)
    }

    pub(crate) fn into_iter(self) -> IntoIter<T, BITS> {
        pages!(self, into_iter)
    }
}

impl<P, Q, V, S, K, T, const BITS: u32> Iterator for Pages<P, V, S, BITS>
where
    P: Iterator<Item = (usize, Q)>,
    Q: IntoIterator<Item = (usize, T), IntoIter = V>,
    V: Iterator<Item = (usize, T)>,
    S: Iterator<Item = (K, T)>,
    K: Borrow<u32>,
{
    type Item = (u32, T);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((number, values)) = &mut self.page {
                if let Some((index, value)) = values.next() {
                    self.left -= 1;
                    return Some((PagedSlab::<T, BITS>::join(*number, index), value));
                }
            }
            let Some((number, page)) = self.pages.next() else {
                break;
            };
            self.page = Some((number, page.into_iter()));
        }
        let (key, value) = self.survivors.next()?;
        self.left -= 1;
        Some((*key.borrow(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<P, V, S, const BITS: u32> ExactSizeIterator for Pages<P, V, S, BITS> where Self: Iterator {}
// When no pages are left, the last page is exhausted as well, so the iterator is fused if its parts
// are.
impl<P: FusedIterator, V: FusedIterator, S: FusedIterator, const BITS: u32> FusedIterator
    for Pages<P, V, S, BITS>
where
    Self: Iterator,
{
}
