//! The memory that the allocator keeps for later.

/// Returns memory that is free to the system. glibc keeps what was freed in the middle of its heaps, which after a lot of
/// work is most of them; elsewhere nothing has to be done.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    #![expect(unsafe_code, reason = "no crate that is used here has the function")]

    use std::ffi::c_int;

    unsafe extern "C" {
        /// `malloc_trim(3)`: keeps `pad` bytes at the end of the main heap.
        fn malloc_trim(pad: usize) -> c_int;
    }

    pub(super) fn trim() {
        // SAFETY: glibc has had the function since 2.0 with these types; it takes the locks of the heaps itself and
        // gives back only pages that no allocation is in.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the resident memory of this process, in KiB.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    #[test]
    fn memory_between_what_is_still_in_use_goes_back() {
        // Each is too small for a mapping of its own, and every 64th stays.
        let mut blocks: Vec<Option<Vec<u8>>> = Vec::new();
        blocks.extend((0..16_384).map(|_| Some(vec![1; 4096])));
        for (at, block) in blocks.iter_mut().enumerate() {
            if at % 64 != 0 {
                *block = None;
            }
        }
        let before = resident();
        release_free_memory();
        let after = resident();
        assert!(
            after + 32_000 < before,
            "{before} KiB before, {after} after"
        );
        assert_eq!(blocks.iter().flatten().count(), 256);
    }
}
