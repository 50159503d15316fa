//! Calls of the engine that a simulated disk fails now and then: before anything is done, or, as on a network's disk,
//! when all of it is done.

use super::state::SimDisk;
use crate::random::Seeded;
use std::io;

/// The kinds of error, of those that a disk gives whatever it is asked for.
const ANY: &[fn() -> io::Error] = &[input_output, || io::ErrorKind::PermissionDenied.into()];
/// The kinds of error for what needs room.
const NEEDS_ROOM: &[fn() -> io::Error] = &[input_output, || io::ErrorKind::StorageFull.into()];

/// The faults of a disk.
#[derive(Default)]
pub(super) struct Faults {
    /// One call in so many fails; 0: none does.
    one_in: usize,
    random: Option<Seeded>,
}

/// The kind of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Read,
    Write,
}

struct Fault {
    error: io::Error,
    /// The call is done all the same.
    is_late: bool,
}

impl Faults {
    fn draw(&self, call: Call) -> Option<Fault> {
        let random = self.random.as_ref().filter(|_| self.one_in > 0)?;
        if !random.one_in(self.one_in) {
            return None;
        }
        let kinds = match call {
            Call::Read => ANY,
            Call::Write if random.one_in(2) => NEEDS_ROOM,
            Call::Write => ANY,
        };
        Some(Fault {
            error: random.pick(kinds)?(),
            is_late: random.one_in(3),
        })
    }
}

impl SimDisk {
    /// One call of the engine in `n` fails from now on, as `random` says; 0: none does.
    pub fn fault_one_in(&self, n: usize, random: &Seeded) {
        self.state().faults = Faults {
            one_in: n,
            random: Some(random.clone()),
        };
    }

    /// Lets happen what happens between two calls. It may use the disk itself.
    fn let_interfere(&self) {
        let interference = self.state().interference.take();
        if let Some(mut interference) = interference {
            interference();
            self.state().interference = Some(interference);
        }
    }

    /// Does what a call of the engine asks for, unless a fault is in the way.
    pub(super) fn serve<T>(
        &self,
        call: Call,
        done: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.let_interfere();
        let fault = self.state().faults.draw(call);
        match fault {
            None => done(),
            Some(Fault { error, is_late }) => {
                if is_late {
                    done()?;
                }
                Err(error)
            }
        }
    }
}

fn input_output() -> io::Error {
    const EIO: i32 = 5;
    io::Error::from_raw_os_error(EIO)
}
