//! A list of chunks: order, holes, chunks that are kept, chunks that are merged.

use super::*;

/// A single list, and the cell of each key, which an entry would hold.
struct Listed {
    chunks: Chunks,
    list: ChunkList,
    cells: Vec<CellAddr>,
}

impl Listed {
    fn of(count: u32) -> Self {
        let mut listed = Self {
            chunks: Chunks::new(),
            list: ChunkList::EMPTY,
            cells: Vec::new(),
        };
        (0..count).for_each(|key| listed.push(key));
        listed
    }

    fn push(&mut self, key: u32) {
        assert_eq!(key as usize, self.cells.len());
        let (cell, _) = self.chunks.push(&mut self.list, 7, key);
        self.cells.push(cell);
    }

    /// Removes a key, and returns how many others were moved.
    fn cut(&mut self, key: u32) -> usize {
        let cell = self.cells[key as usize];
        let mut count = 0;
        if let Cleared::Sparse { slot_index } = self.chunks.clear(cell) {
            assert_eq!(slot_index, 7);
            let moved = |key: u32, cell| {
                self.cells[key as usize] = cell;
                count += 1;
            };
            self.chunks
                .free_or_merge(cell.chunk(), &mut self.list, moved);
        }
        count
    }

    fn keys(&self) -> Vec<u32> {
        let mut keys = Vec::new();
        let mut chunk = self.list.head;
        while chunk != NIL {
            for (cell, key) in self.chunks.cells(chunk) {
                assert_eq!(self.cells[key as usize], cell);
                keys.push(key);
            }
            chunk = self.chunks.at(chunk).next;
        }
        keys
    }

    fn chunk_count(&self) -> usize {
        self.chunks.slab.len()
    }
}

#[test]
fn keys_come_in_order_of_arrival() {
    let mut listed = Listed::of(200);
    assert_eq!(listed.chunk_count(), 4);
    for key in 0..200 {
        let popped = listed.chunks.pop(&mut listed.list);
        assert_eq!(popped, (key, key == 199));
    }
    assert_eq!(listed.chunk_count(), 1, "kept for the next insert");
    listed.chunks.free_kept(&mut listed.list);
    assert_eq!((listed.list, listed.chunk_count()), (ChunkList::EMPTY, 0));
}

#[test]
fn a_hole_is_not_filled_by_a_later_key() {
    let mut listed = Listed::of(3);
    listed.cut(1);
    listed.push(3);
    assert_eq!(listed.keys(), [0, 2, 3]);
}

#[test]
fn the_last_chunk_stays_with_its_stale_cells() {
    let mut listed = Listed::of(1);
    let kept = listed.list;
    listed.cut(0);
    assert_eq!((listed.list, listed.chunk_count()), (kept, 1));
    assert!(listed.keys().is_empty());
    listed.push(1);
    assert_eq!((listed.keys(), listed.list), (vec![1], kept));
    assert_eq!(listed.cells[0], listed.cells[1]);
}

#[test]
fn a_kept_chunk_can_be_freed() {
    let mut listed = Listed::of(1);
    listed.cut(0);
    listed.chunks.free_kept(&mut listed.list);
    assert_eq!((listed.list, listed.chunk_count()), (ChunkList::EMPTY, 0));
}

#[test]
fn a_chunk_emptied_among_others_is_freed() {
    let mut listed = Listed::of(3 * 64);
    (64..128).for_each(|key| _ = listed.cut(key));
    assert_eq!(listed.chunk_count(), 2);
    assert_eq!(listed.keys(), (0..64).chain(128..192).collect::<Vec<_>>());
}

#[test]
fn a_sparse_chunk_joins_its_neighbour_once_that_is_half_empty() {
    let mut listed = Listed::of(2 * 64);
    (64..128 - 4).for_each(|key| assert_eq!(listed.cut(key), 0)); // 64 and 4: no room
    (0..31).for_each(|key| assert_eq!(listed.cut(key), 0));
    assert_eq!(listed.cut(31), 4); // 32 and 4
    assert_eq!(listed.chunk_count(), 1);
    assert_eq!(listed.keys().len(), 36);
}

#[test]
fn a_cancel_moves_a_few_at_most_and_hardly_any_on_average() {
    let mut listed = Listed::of(64 * 64);
    let mut order: Vec<u32> = (0..64 * 64).collect();
    order.sort_by_key(|key| key.wrapping_mul(0x9E37_79B9)); // as good as random
    let moves: Vec<usize> = order.iter().map(|&key| listed.cut(key)).collect();
    assert!(moves.iter().all(|&count| count <= SPARSE as usize));
    assert!(moves.iter().sum::<usize>() <= moves.len() / 4);
    assert!(moves.iter().any(|&count| count > 0));
    assert_eq!(listed.chunk_count(), 1);
}

#[test]
fn chains_do_not_thin_out_without_end() {
    let mut listed = Listed::of(64 * 64);
    let mut order: Vec<u32> = (0..64 * 64).collect();
    order.sort_by_key(|key| key.wrapping_mul(0x85EB_CA6B));
    for (cut, &key) in order.iter().enumerate() {
        listed.cut(key);
        let (live, chunks) = (order.len() - cut - 1, listed.chunk_count());
        assert!(
            live >= (chunks - 1) * SPARSE as usize,
            "{live} keys in {chunks} chunks"
        );
    }
}
