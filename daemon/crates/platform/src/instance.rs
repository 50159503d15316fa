//! The one running instance of a desktop program, which a later start asks to show itself.
//!
//! The window toolkit has its own check, which ends the process in the middle of starting: a thread that
//! still connects to the display at that moment uses locks that the exit has freed, and crashes. Asking
//! before the toolkit exists avoids that; its check stays for two starts at the same moment.

#[cfg(target_os = "linux")]
mod linux;

/// Passes the command line of this process to the running instance of the program with the identifier
/// `program` (reverse domain name, as in the toolkit's configuration). Returns whether there is one.
///
/// Takes at most five seconds; returns `false` on systems where the toolkit's own check is enough.
#[must_use]
pub fn forward_start(program: &str) -> bool {
    #[cfg(target_os = "linux")]
    return linux::forward_start(program);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = program;
        false
    }
}
