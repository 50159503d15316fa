//! The check of commands that give out content (downloads, links): nodes whose name and parent no seal of a
//! device with the keys covers, or of which this device has seen a later state, are refused, or noted.

use crate::app::App;
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::clean;
use cairn_model::Verification;
use cairn_space::{Space, list_paths, unverified_content};
use cairn_transfer::Download;
use cairn_wire::nodes::Node;

/// The meaning of an unverified path.
const UNVERIFIED: &str = "no device with your present keys has put this where it is, or this device has seen a later state of it";

/// Refuses unverified paths where the setting `sync.verify` is strict.
pub(crate) fn check(app: &App, unverified: &[String]) -> CommandResult {
    check_in(Config::load(&app.home)?.verify, unverified)
}

/// Checks as [`check`] does, one content of a file whose unverified path is given. Returns all that is not verified.
pub(crate) fn check_content(
    app: &App,
    node: &Node,
    content: &Download,
    unverified_path: Vec<String>,
) -> CommandResult<Vec<String>> {
    let unverified = unverified_content(node, content, unverified_path);
    check(app, &unverified)?;
    Ok(unverified)
}

/// Checks as [`check`] does, in a mode.
pub(crate) fn check_in(mode: Verification, unverified: &[String]) -> CommandResult {
    if mode == Verification::Warn || unverified.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Decision,
        format!(
            "{UNVERIFIED}, and `sync.verify` is strict: {}; if you trust it, run `cairn config set sync.verify warn` first",
            list_clean(unverified)
        ),
    ))
}

/// Notes that content that was given out is not verified.
pub(crate) fn note(app: &App, unverified: &[String]) {
    if !unverified.is_empty() {
        app.out.note(format_args!(
            "not verified: {UNVERIFIED}: {}",
            list_clean(unverified)
        ));
    }
}

/// Notes that a restored item has no seal: only the service claims that it is what it was before.
pub(crate) fn note_restored(app: &App, space: &Space, node: &Node, path: &str) {
    if space.seal(node).is_none() {
        app.out.note(format_args!(
            "not verified: only the service says that {} is as it was; look at it before you trust it",
            clean(path)
        ));
    }
}

fn list_clean(paths: &[String]) -> String {
    list_paths(paths.iter().map(|path| clean(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strict_verification_refuses() {
        let unverified = ["/a".to_owned()];
        assert!(check_in(Verification::Warn, &unverified).is_ok());
        assert!(check_in(Verification::Strict, &[]).is_ok());
        let refused = check_in(Verification::Strict, &unverified).unwrap_err();
        assert_eq!(refused.exit, Exit::Decision);
        assert!(refused.message.contains("/a"), "{refused}");
    }
}
