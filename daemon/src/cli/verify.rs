//! `cairn verify`: whether the encryption is as it should be, for the account and for single files.

use crate::app::App;
use crate::cli::passphrase::current_bundle;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::Style;
use crate::output::text::{clean, size};
use crate::remote::{Remote, Within};
use crate::session::Session;
use cairn_model::Kind;
use cairn_space::account_keys::{self, ARGON2ID, KdfFields, RootCost};
use cairn_transfer::Target;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Check the account's encryption, or that files on the service can be opened and are unaltered
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Files to fetch and check in full: paths such as /a/b, or ids; nothing is written
    nodes: Vec<String>,
    /// Files in the space of a team: its name or id
    #[arg(long, value_name = "TEAM", requires = "nodes")]
    team: Option<String>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    if args.nodes.is_empty() {
        return account(app, &app.session()?).await;
    }
    let remote = Remote::open(app, &Within { team: args.team }).await?;
    let mut results = Vec::new();
    let mut bad = 0;
    for text in &args.nodes {
        let node = remote.find(text).await?.node()?;
        if node.kind == Kind::Folder {
            return Err(Failure::usage(format!(
                "{text} is a folder: name the files in it that are to be checked"
            )));
        }
        let checked = check(&remote, &node).await;
        let (ok, message) = match &checked {
            Ok(text) => (true, text.clone()),
            Err(failure) if failure.exit == Exit::Failed => (false, failure.message.clone()),
            Err(failure) => return Err(failure.clone()),
        };
        bad += usize::from(!ok);
        let word = if ok {
            app.out.paint(Style::Good, "ok")
        } else {
            app.out.paint(Style::Bad, "FAIL")
        };
        app.out
            .line(format_args!("{word}  {}: {}", clean(text), clean(&message)));
        results.push(json!({ "path": text, "id": node.id, "ok": ok, "message": message }));
    }
    app.out.json(&json!({ "files": results }));
    if bad == 0 {
        return Ok(());
    }
    let message = format!(
        "{bad} of {} files failed the check: keep your local copies",
        args.nodes.len()
    );
    Err(Failure::failed(message).mark_reported())
}

/// A target that keeps nothing: the transfer checks what it writes.
#[derive(Default)]
struct DiscardingTarget(AtomicU64);

impl Target for DiscardingTarget {
    fn size(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0
            .fetch_max(offset + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn set_size(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

async fn check(remote: &Remote, node: &cairn_wire::nodes::Node) -> CommandResult<String> {
    let content = remote.content(node, None).await?;
    let target: Arc<dyn Target> = Arc::new(DiscardingTarget::default());
    let manifest = remote
        .transfer
        .download(content, target, &())
        .await
        .context(format_args!("check {}", node.name))?;
    let seal = if remote.is_verified(node) {
        "name and place are sealed"
    } else {
        "name or place were last changed without the keys, or a later state was seen here"
    };
    Ok(format!("{} read and checked, {seal}", size(manifest.size)))
}

async fn account(app: &App, session: &Session) -> CommandResult {
    let account = &session.account;
    // Without the server's keys nothing was checked: no check is said to have failed.
    let bundle = current_bundle(session).await?;
    let key = &session.keys.account_key;
    let opens = account_keys::unlock_with_account_key(&bundle, key, account.account, account.space)
        .map_err(Failure::from);
    let recovery = bundle.recovery.is_some();
    let strong = is_strong(&bundle.kdf);
    let checks = checks(opens.is_ok(), strong, recovery);
    for check in &checks {
        let word = if check.ok {
            app.out.paint(Style::Good, "ok")
        } else {
            app.out.paint(Style::Warning, "no")
        };
        // Beside the word it is what was checked.
        app.out.line(format_args!("{word}  {}", check.if_ok));
    }
    let recommendations = recommendations(strong, recovery);
    for text in &recommendations {
        app.out.line(format_args!("→ {text}"));
    }
    let checks: Vec<_> = checks
        .iter()
        .map(|check| json!({ "check": check.name, "ok": check.ok, "message": check.message() }))
        .collect();
    app.out.json(&json!({
        "encryption_ready": opens.is_ok(),
        "recovery_key_configured": recovery,
        "checks": checks,
        "recommendations": recommendations,
    }));
    opens.map(drop).map_err(Failure::mark_reported)
}

/// One thing that was checked of the account.
struct Check {
    name: &'static str,
    ok: bool,
    if_ok: &'static str,
    if_not: &'static str,
}

impl Check {
    /// Returns what was found.
    fn message(&self) -> &'static str {
        if self.ok { self.if_ok } else { self.if_not }
    }
}

fn checks(opens: bool, strong: bool, recovery: bool) -> [Check; 3] {
    [
        Check {
            name: "keys",
            ok: opens,
            if_ok: "the server's keys open with this device's and are unaltered",
            if_not: "the server's keys don't open with this device's, or are altered",
        },
        Check {
            name: "passphrase",
            ok: strong,
            if_ok: "the passphrase is protected by Argon2id with at least 256 MiB",
            if_not: "the passphrase is not protected by Argon2id with at least 256 MiB",
        },
        Check {
            name: "recovery_key",
            ok: recovery,
            if_ok: "a recovery key is set up",
            if_not: "no recovery key is set up",
        },
    ]
}

/// Returns whether the derivation is what a new account has, or more.
fn is_strong(kdf: &KdfFields) -> bool {
    let least = RootCost::DEFAULT;
    kdf.algorithm == ARGON2ID
        && kdf.memory.is_some_and(|memory| memory >= least.memory)
        && kdf.iterations >= least.passes
}

/// The advice for an account whose protection is incomplete.
fn recommendations(strong: bool, recovery: bool) -> Vec<&'static str> {
    let mut recommendations = Vec::new();
    if !strong {
        recommendations
            .push("run `cairn passphrase change`: it also renews how the passphrase is protected");
    }
    if !recovery {
        recommendations.push(
            "run `cairn recovery-key setup`: without it, a forgotten passphrase loses every file",
        );
    }
    recommendations
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_space::account_keys::PBKDF2;

    #[test]
    fn the_message_of_a_check_says_what_was_found() {
        let [_, passphrase, recovery] = checks(true, true, false);
        assert!(passphrase.message().contains("is protected by"));
        assert_eq!(recovery.message(), "no recovery key is set up");
        assert!(!recovery.ok);
    }

    #[test]
    fn less_than_a_new_account_has_is_to_be_renewed() {
        let fields = |cost: RootCost| KdfFields {
            algorithm: ARGON2ID.to_owned(),
            iterations: cost.passes,
            memory: Some(cost.memory),
            lanes: Some(cost.lanes),
            salt: Vec::new(),
        };
        assert!(is_strong(&fields(RootCost::DEFAULT)));
        assert!(!is_strong(&fields(RootCost::LEAST)));
        let before = KdfFields {
            algorithm: PBKDF2.to_owned(),
            iterations: 10_000_000,
            memory: None,
            lanes: None,
            salt: Vec::new(),
        };
        assert!(!is_strong(&before));
        assert_eq!(recommendations(is_strong(&before), true).len(), 1);
    }
}
