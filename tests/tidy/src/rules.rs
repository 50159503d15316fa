//! All rules, in the order in which `docs/ARCHITECTURE.md` explains them.

mod arrows;
mod content;
mod files;
mod prose;

use crate::Rule;

pub use arrows::{ARROWS, OWNERS, TEST_ARROWS};
pub use content::{
    CLOCKLESS_TESTS, NO_MACHINE_CODE_OUTSIDE, PURE_PLAN, QUIET, SQL_AT_HOME, UNSAFE_AT_HOME,
};
pub use files::{HEADERS, LINTS, NAMES, NO_MOD_RS, SIZE};
pub use prose::{LINKS, NO_LEFTOVERS, NO_MACHINE_PATHS};

/// Every rule there is.
pub const ALL: [Rule; 17] = [
    ARROWS,
    TEST_ARROWS,
    OWNERS,
    SIZE,
    NO_MOD_RS,
    NAMES,
    HEADERS,
    LINTS,
    NO_MACHINE_CODE_OUTSIDE,
    UNSAFE_AT_HOME,
    SQL_AT_HOME,
    QUIET,
    PURE_PLAN,
    CLOCKLESS_TESTS,
    NO_MACHINE_PATHS,
    NO_LEFTOVERS,
    LINKS,
];
