//! An allocator that counts, and ends the process where a run takes more than it may.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one run may take beyond what was held before it.
const MOST: usize = 512 << 20;

/// Bytes that are held.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Bytes that may be held in this run.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if held > LIMIT.load(Ordering::Relaxed) {
        // Whoever reports this may allocate.
        LIMIT.store(usize::MAX, Ordering::Relaxed);
        eprintln!("an allocation of {bytes} bytes goes beyond {} MB in one run", MOST >> 20);
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
        std::process::abort();
    }
}

fn give_back(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        System.alloc(layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        System.alloc_zeroed(layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        give_back(layout.size());
        System.dealloc(pointer, layout);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        give_back(layout.size());
        System.realloc(pointer, layout, size)
    }
}

/// Starts a run: it may take so much from here on.
pub fn start() {
    LIMIT.store(HELD.load(Ordering::Relaxed).saturating_add(MOST), Ordering::Relaxed);
}
