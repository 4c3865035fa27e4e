//! Iterators over the values of all pages.

use std::iter::{Chain, Enumerate, FusedIterator, Once, once};
use std::{slice, vec};

use super::{Page, PagedSlab};

/// Keys and values, page by page. `P` has the pages that are left, `V` the values of a page.
#[derive(Clone, Debug)]
pub(crate) struct Pages<P, V, const BITS: u32> {
    pages: P,
    /// The page that is being gone through, and its number.
    page: Option<(usize, V)>,
    left: usize,
}

pub(crate) type Iter<'a, T, const BITS: u32> =
    Pages<Enumerate<All<&'a Page<T>, slice::Iter<'a, Page<T>>>>, slab::Iter<'a, T>, BITS>;
pub(crate) type IterMut<'a, T, const BITS: u32> =
    Pages<Enumerate<All<&'a mut Page<T>, slice::IterMut<'a, Page<T>>>>, slab::IterMut<'a, T>, BITS>;
pub(crate) type IntoIter<T, const BITS: u32> =
    Pages<Enumerate<All<Page<T>, vec::IntoIter<Page<T>>>>, slab::IntoIter<T>, BITS>;

/// The first page, and the rest.
type All<P, R> = Chain<Once<P>, R>;

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    pub(super) fn all_pages(&self) -> All<&Page<T>, slice::Iter<'_, Page<T>>> {
        once(&self.first).chain(&self.rest)
    }

    pub(crate) fn iter(&self) -> Iter<'_, T, BITS> {
        Pages::new(self.all_pages().enumerate(), self.len())
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T, BITS> {
        let left = self.len();
        let pages = once(&mut self.first).chain(&mut self.rest);
        Pages::new(pages.enumerate(), left)
    }

    pub(crate) fn into_iter(self) -> IntoIter<T, BITS> {
        let left = self.len();
        let pages = once(self.first).chain(self.rest);
        Pages::new(pages.enumerate(), left)
    }
}

impl<P, V, const BITS: u32> Pages<P, V, BITS> {
    fn new(pages: P, left: usize) -> Self {
        Pages {
            pages,
            page: None,
            left,
        }
    }
}

impl<P, Q, V, T, const BITS: u32> Iterator for Pages<P, V, BITS>
where
    P: Iterator<Item = (usize, Q)>,
    Q: IntoIterator<Item = (usize, T), IntoIter = V>,
    V: Iterator<Item = (usize, T)>,
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
            let (number, page) = self.pages.next()?;
            self.page = Some((number, page.into_iter()));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<P, V, const BITS: u32> ExactSizeIterator for Pages<P, V, BITS> where Self: Iterator {}
// Once the pages are used up, the last page is used up as well, and all parts are fused.
impl<P: FusedIterator, V: FusedIterator, const BITS: u32> FusedIterator for Pages<P, V, BITS> where
    Self: Iterator
{
}

impl<'a, T> IntoIterator for &'a Page<T> {
    type Item = (usize, &'a T);
    type IntoIter = slab::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slab.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Page<T> {
    type Item = (usize, &'a mut T);
    type IntoIter = slab::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slab.iter_mut()
    }
}

impl<T> IntoIterator for Page<T> {
    type Item = (usize, T);
    type IntoIter = slab::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slab.into_iter()
    }
}
