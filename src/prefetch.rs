//! Asks for memory before it is needed.

#![allow(
    unsafe_code,
    reason = "there is no safe name for the instruction on stable Rust yet"
)]

/// Bytes that the memory hands out at a time.
pub(crate) const LINE_BYTES: usize = 64;

/// Begins to fetch the line of memory so many bytes behind the start of a value: what comes after it
/// will be looked at soon. Where there is no such instruction, nothing.
#[inline]
pub(crate) fn prefetch_behind<T: ?Sized>(value: &T, bytes: usize) {
    prefetch_line(std::ptr::from_ref(value).cast::<u8>().wrapping_add(bytes));
}

/// Begins to fetch the line of memory at an address, where there need not be anything. Where there is no such
/// instruction, nothing.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
#[inline]
pub(crate) fn prefetch_line(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = place.cast::<i8>();
        // SAFETY: a prefetch reads nothing that a program can see, changes nothing, and never
        // faults, whatever the address: nothing has to be there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
}

/// Begins to fetch a value that will be looked at soon; where there is no such instruction, nothing.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
        prefetch_behind(value, offset);
    }
}
