//! The treatment of nodes that no device with the keys has put where they are, by commands that hand
//! out content.

use crate::app::App;
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::clean;

/// Paths that a message lists; the rest is counted.
const LISTED: usize = 10;

/// The setting `sync.verify`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verification {
    /// They are used, and it is said.
    Warn,
    /// Nothing is done with them.
    Strict,
}

impl Verification {
    /// Returns what the configuration says.
    pub(crate) fn of(app: &App) -> CommandResult<Self> {
        let config = Config::load(&app.home)?;
        Ok(if config.strict {
            Self::Strict
        } else {
            Self::Warn
        })
    }

    /// Refuses unverified paths where verification is strict.
    pub(crate) fn judge(self, unverified: &[String]) -> CommandResult {
        if self == Self::Warn || unverified.is_empty() {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Decision,
            format!(
                "no device with your keys has put this where it is, and `sync.verify` is strict: {}; if you trust it, run `cairn config set sync.verify warn` first",
                listed(unverified)
            ),
        ))
    }
}

/// Notes that what was handed out is not verified.
pub(crate) fn note(app: &App, unverified: &[String]) {
    if !unverified.is_empty() {
        app.out.note(format_args!(
            "not verified: no device with your keys has put this where it is: {}",
            listed(unverified)
        ));
    }
}

fn listed(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(LISTED).map(|path| clean(path)).collect();
    let shown = shown.join(", ");
    match paths.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strict_verification_refuses() {
        let unverified = ["/a".to_owned()];
        assert!(Verification::Warn.judge(&unverified).is_ok());
        assert!(Verification::Strict.judge(&[]).is_ok());
        let refused = Verification::Strict.judge(&unverified).unwrap_err();
        assert_eq!(refused.exit, Exit::Decision);
        assert!(refused.message.contains("/a"), "{refused}");
    }

    #[test]
    fn a_long_list_is_cut() {
        let paths: Vec<String> = (0..12).map(|n| format!("/{n}")).collect();
        assert!(listed(&paths).ends_with("/9 and 2 more"));
    }
}
