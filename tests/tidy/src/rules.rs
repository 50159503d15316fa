//! All rules, in the order in which `docs/ARCHITECTURE.md` explains them.

mod arrows;
mod circles;
mod content;
mod doc_openings;
mod examples;
mod files;
mod function_names;
mod functions;
mod properties;
mod prose;
mod scenarios;
mod words;

use crate::Rule;

pub use arrows::{ARROWS, OWNERS, TEST_ARROWS};
pub use circles::CIRCLES;
pub use content::{
    CLOCKLESS_TESTS, NO_MACHINE_CODE_OUTSIDE, PURE_PLAN, QUIET, SQL_AT_HOME, UNSAFE_AT_HOME,
};
pub use doc_openings::DOC_OPENINGS;
pub use examples::NO_EXAMPLES;
pub use files::{HEADERS, LINTS, NAMES, NO_MOD_RS, SIZE};
pub use function_names::FUNCTION_NAMES;
pub use functions::FUNCTIONS;
pub use properties::PROPERTY_CASES;
pub use prose::{CONTENTS, LINKS, NO_LEFTOVERS, NO_MACHINE_PATHS};
pub use scenarios::SCENARIOS;
pub use words::WORDS;

/// Every rule there is.
pub const ALL: [Rule; 26] = [
    ARROWS,
    TEST_ARROWS,
    OWNERS,
    CIRCLES,
    SIZE,
    FUNCTIONS,
    FUNCTION_NAMES,
    NO_MOD_RS,
    NAMES,
    HEADERS,
    DOC_OPENINGS,
    WORDS,
    LINTS,
    NO_MACHINE_CODE_OUTSIDE,
    UNSAFE_AT_HOME,
    SQL_AT_HOME,
    QUIET,
    PURE_PLAN,
    CLOCKLESS_TESTS,
    PROPERTY_CASES,
    NO_MACHINE_PATHS,
    NO_LEFTOVERS,
    NO_EXAMPLES,
    LINKS,
    CONTENTS,
    SCENARIOS,
];
