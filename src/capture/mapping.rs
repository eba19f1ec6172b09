//! Parts of regular files, mapped into memory: beside `prefetch` the only module with `unsafe`.
//!
//! Two things can go wrong with a mapping, and both are dealt with here and in `mapped`. A file that
//! gets shorter takes its pages along, and touching one of those is a `SIGBUS`: a handler puts
//! zeros in place of the whole mapping and marks it as lost, so that the touch goes on. A file that
//! is written to changes under its readers: nothing here hands out more than bytes, whose every
//! value is one that a file may hold.

#![allow(
    unsafe_code,
    reason = "mapping a file, and surviving that it gets shorter"
)]

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

/// Where mappings may begin: a multiple of every page size in use, and where the system can map 2 MiB of a file at once
/// if it holds them in one piece.
pub(super) const ALIGNMENT_BYTES: u64 = 2 << 20;

/// Around a touched page, Linux enters those of so many bytes (`fault_around_bytes`) that are there.
const ENTERED_AT_ONCE_BYTES: usize = 64 << 10;

/// A part of a file, mapped.
#[derive(Debug)]
pub(super) struct Mapping {
    /// First, so that it is gone before the addresses are.
    guard: guard::Guard,
    map: Mmap,
}

impl Mapping {
    /// Maps `len` bytes of `file` from `offset` on, a multiple of [`ALIGNMENT_BYTES`].
    ///
    /// # Errors
    /// The system cannot map the file, or there are too many mappings already: it has to be read.
    pub(super) fn new(file: &File, offset: u64, len: usize) -> io::Result<Self> {
        // SAFETY: others may write to the file while it is mapped, which no process can prevent.
        // The bytes are only ever read as `&[u8]`, where each value is valid; lengths and offsets
        // found in them are copied out and checked against the length of the slice, which does not
        // come from the file, before they are used. Pages that are lost are the guard's business.
        let map = unsafe { MmapOptions::new().offset(offset).len(len).map(file)? };
        // Only a hint: without it, and where the system takes none, the pages come all the same.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        let guard = guard::Guard::new(map.as_ptr() as usize, len)?;
        Ok(Self { guard, map })
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Has the system enter the pages of these bytes in the page tables, by touching them: it enters those around a
    /// touched page along with it, in a third of the time that it takes when asked for all of them
    /// (`MADV_POPULATE_READ`), as it then looks for each by itself. What is left out comes when it is touched.
    pub(super) fn enter(&self, bytes: Range<usize>) {
        for &byte in self.map[bytes].iter().step_by(ENTERED_AT_ONCE_BYTES) {
            black_box(byte);
        }
    }

    /// Whether a page was touched that is no longer there: all bytes are zeros since then.
    pub(super) fn is_lost(&self) -> bool {
        self.guard.is_lost()
    }
}

#[cfg(not(unix))]
mod guard {
    use std::io;

    /// Files that are mapped cannot be made shorter here, but what happens is not known well enough.
    #[derive(Debug)]
    pub(super) struct Guard;

    impl Guard {
        pub(super) fn new(_start: usize, _len: usize) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn is_lost(&self) -> bool {
            false
        }
    }
}

/// The handler of `SIGBUS`, and the list of mappings that it looks into.
#[cfg(unix)]
mod guard {
    use std::io;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Mappings there can be at once; files beyond them are read.
    const GUARDS_MAX: usize = 256;

    /// Addresses of one mapping, without locks: the handler may run at any moment.
    #[derive(Debug)]
    struct Slot {
        /// First address; `FREE`, or `TAKEN` while the rest is written.
        start: AtomicUsize,
        len: AtomicUsize,
        lost: AtomicBool,
    }

    const FREE: usize = 0;
    const TAKEN: usize = 1;

    static SLOTS: [Slot; GUARDS_MAX] = [const {
        Slot {
            start: AtomicUsize::new(FREE),
            len: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
        }
    }; GUARDS_MAX];

    /// What was done about `SIGBUS` before; empty where it could not be learnt.
    static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

    /// Whether the handler is in place.
    static INSTALLED: OnceLock<bool> = OnceLock::new();

    /// A mapping known to the handler for as long as this lives.
    #[derive(Debug)]
    pub(super) struct Guard {
        slot: &'static Slot,
    }

    impl Guard {
        pub(super) fn new(start: usize, len: usize) -> io::Result<Self> {
            install()?;
            let take = |slot: &&Slot| {
                slot.start
                    .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            };
            let Some(slot) = SLOTS.iter().find(take) else {
                return Err(io::Error::other("too many mapped files"));
            };
            // In one order with what the handler reads: who sees this length sees that the slot was taken.
            slot.len.store(len, Ordering::SeqCst);
            slot.lost.store(false, Ordering::SeqCst);
            slot.start.store(start, Ordering::SeqCst);
            Ok(Self { slot })
        }

        pub(super) fn is_lost(&self) -> bool {
            self.slot.lost.load(Ordering::SeqCst)
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            self.slot.start.store(FREE, Ordering::SeqCst);
        }
    }

    /// Sets up the handler, once in the life of the process.
    fn install() -> io::Result<()> {
        let before = BEFORE.get_or_init(|| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: asks for the present action and changes nothing; `before` is room for it.
            let asked = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) };
            // SAFETY: all zeros are a valid `sigaction`, and the call only puts another in place.
            (asked == 0).then(|| unsafe { before.assume_init() })
        });
        let installed = INSTALLED.get_or_init(|| {
            if before.is_none() {
                return false;
            }
            // SAFETY: all zeros are a valid `sigaction`: no flags, no handler, an empty mask.
            let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: `action` is complete, and its handler does nothing but what a handler may do.
            unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) == 0 }
        });
        if *installed {
            Ok(())
        } else {
            Err(io::Error::other("SIGBUS cannot be handled"))
        }
    }

    /// Replaces the mapping that holds the address by zeros. Takes no lock, allocates nothing, and
    /// makes one system call, so it may run wherever a mapped byte is touched.
    extern "C" fn on_bus_error(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        // SAFETY: the kernel hands over a valid `siginfo_t` to handlers with `SA_SIGINFO`, and it
        // holds an address when the code says that a touched address was the cause.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
        if code == libc::BUS_ADRERR
            && let Some((slot, start, len)) = slot_of(address)
        {
            // SAFETY: the range is that of a live mapping: whoever touched the address borrows from
            // it, and it leaves the list before it is unmapped. Its pages are only ever read, and
            // read-only zeros are as good as any bytes.
            let zeros = unsafe {
                libc::mmap(
                    start as *mut libc::c_void,
                    len,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            if zeros != libc::MAP_FAILED {
                slot.lost.store(true, Ordering::SeqCst);
                return;
            }
        }
        hand_on(signal, info, context);
    }

    fn slot_of(address: usize) -> Option<(&'static Slot, usize, usize)> {
        SLOTS.iter().find_map(|slot| {
            let start = slot.start.load(Ordering::SeqCst);
            let len = slot.len.load(Ordering::SeqCst);
            // The same start again: the length in between belongs to it.
            let known = start > TAKEN && slot.start.load(Ordering::SeqCst) == start;
            (known && address >= start && address - start < len).then_some((slot, start, len))
        })
    }

    /// Not one of ours: to whoever was asked before.
    fn hand_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        type Plain = unsafe extern "C" fn(libc::c_int);
        type WithInfo = unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

        let Some(Some(before)) = BEFORE.get() else {
            return;
        };
        // SAFETY: the system calls the handler with information, whose first fields every signal has.
        let is_sent = unsafe { (*info).si_code } <= 0;
        match before.sa_sigaction {
            libc::SIG_IGN if is_sent => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: puts back what stood there; the touch is repeated when this handler returns, and then meets
                // it, and so does a signal that was sent and is sent again.
                unsafe {
                    libc::sigaction(signal, before, ptr::null_mut());
                    if is_sent {
                        libc::raise(signal);
                    }
                }
            }
            // SAFETY: neither of the two special values and without `SA_SIGINFO`: the address of a function of this
            // type, set by those who wanted it called with the signal.
            handler if before.sa_flags & libc::SA_SIGINFO == 0 => unsafe {
                std::mem::transmute::<usize, Plain>(handler)(signal);
            },
            // SAFETY: the same with `SA_SIGINFO`, and these arguments.
            handler => unsafe {
                std::mem::transmute::<usize, WithInfo>(handler)(signal, info, context);
            },
        }
    }
}
