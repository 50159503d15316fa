//! `cairn teams keys` and `cairn teams grant`: the members' keys, and granting the team's key to them.

use super::granting;
use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::Style;
use crate::output::table::{Align, Table};
use crate::output::text::clean;
use crate::session::Session;
use crate::{team, trust};
use cairn_space::{Granting, KeyStatus, MemberKeys, PublicKeys, SystemRandom, TeamGrants};
use cairn_wire::teams::Team;
use serde_json::{Value, json};

/// The request to a person where keys are new or differ.
const COMPARE: &str =
    "compare the fingerprint with them over another channel than this service, such as the phone";

pub(super) async fn show(
    app: &App,
    session: &Session,
    wanted: &str,
    accepted: Accepted<'_>,
) -> CommandResult {
    let team = team::find(&session.api, wanted).await?;
    let grants = team::grants(&session.api, &team).await?;
    let members = accept(app, session, &grants, accepted)?;
    let mut table = Table::new(&[
        ("E-MAIL", Align::Name),
        ("ROLE", Align::Left),
        ("GRANTED", Align::Left),
        ("FINGERPRINT", Align::Left),
        ("KEYS", Align::Left),
    ]);
    for member in &members {
        table.row([
            member.email.clone(),
            super::role_name(member.role).to_owned(),
            if member.has_grant { "yes" } else { "no" }.to_owned(),
            fingerprint(member.keys.as_ref()).unwrap_or_default(),
            words(member.status).to_owned(),
        ]);
    }
    table.print(&app.out, "The team has no members.");
    for member in members_with_changed_keys(&members) {
        app.out.note(difference(app, member));
    }
    app.out.json(&json!({
        "team_id": team.id,
        "space_id": team.space_id,
        "epoch": grants.epoch(),
        "members": members.iter().map(view).collect::<Vec<_>>(),
    }));
    Ok(())
}

/// The members whose keys a person accepts with the command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted<'a> {
    /// Known by changed keys that were shown before.
    pub(super) changed: Option<&'a str>,
    /// Seen for the first time.
    pub(super) new: &'a [String],
}

/// Accepts the keys that a person has compared, and returns all members.
fn accept(
    app: &App,
    session: &Session,
    grants: &TeamGrants,
    accepted: Accepted<'_>,
) -> CommandResult<Vec<MemberKeys>> {
    trust::update(&app.home, &session.keys, |trust| {
        let changed = accepted.changed;
        changed.map_or(Ok(()), |email| grants.accept_changed(email, trust))?;
        for email in accepted.new {
            grants.accept_new(email, trust)?;
        }
        grants.members(&session.keys, trust)
    })
}

pub(super) async fn grant(
    app: &App,
    session: &Session,
    wanted: &str,
    accepted: Accepted<'_>,
    new_key: bool,
) -> CommandResult {
    let api = &session.api;
    let team = team::find(api, wanted).await?;
    let grants = team::grants(api, &team).await?;
    let members = accept(app, session, &grants, accepted)?;
    let confirmed = confirm_fingerprints(app, &members)?;
    let made = trust::update(&app.home, &session.keys, |trust| {
        for email in &confirmed {
            grants.accept_new(email, trust)?;
        }
        match new_key {
            true => grants.grant_next_epoch(&session.keys, trust, &mut SystemRandom),
            false => grants.grant(&session.keys, trust, &mut SystemRandom),
        }
    })?;
    for member in made
        .members
        .iter()
        .filter(|one| made.grants_to(one.account))
    {
        app.out.line(format_args!(
            "Granting to {}  {}",
            clean(&member.email),
            fingerprint(member.keys.as_ref()).unwrap_or_default()
        ));
    }
    granting::send(app, session, &team, &grants, &made).await?;
    report(app, &team, &made)
}

/// Shows the fingerprint of each member who is new and lacks the key, and asks for each. Returns the
/// addresses that were accepted; none without a terminal.
fn confirm_fingerprints(app: &App, members: &[MemberKeys]) -> CommandResult<Vec<String>> {
    let mut accepted = Vec::new();
    for member in waiting_members(members) {
        app.out.note(format_args!(
            "{} was seen for the first time, with the fingerprint {}",
            clean(&member.email),
            fingerprint(member.keys.as_ref()).unwrap_or_default()
        ));
        let question = format!(
            "Did {} tell you this fingerprint over another channel than this service, such as the phone? [y/N] ",
            clean(&member.email)
        );
        if prompt::confirm(&question)? {
            accepted.push(member.email.clone());
        }
    }
    Ok(accepted)
}

/// Returns the members who could have the key if a person accepted theirs.
fn waiting_members(members: &[MemberKeys]) -> Vec<&MemberKeys> {
    members
        .iter()
        .filter(|one| one.status == KeyStatus::New && !one.has_grant)
        .collect()
}

/// Reports what was granted, and to whom not.
fn report(app: &App, team: &Team, made: &Granting) -> CommandResult {
    if made.new_key {
        app.out.line(format_args!(
            "Made a new key for {} (epoch {}).",
            clean(&team.name),
            made.ring.epoch()
        ));
    }
    let granted = granted_members(made);
    if made.grants.is_empty() {
        app.out.line("All members who can have the key have it.");
    }
    let without: Vec<&MemberKeys> = made
        .members
        .iter()
        .filter(|one| matches!(one.status, KeyStatus::NoKeys | KeyStatus::Unusable))
        .collect();
    for member in &without {
        app.out.note(format_args!(
            "{} gets no key: {}",
            clean(&member.email),
            words(member.status)
        ));
    }
    let changed = members_with_changed_keys(&made.members);
    for member in &changed {
        app.out.note(difference(app, member));
    }
    let new = waiting_members(&made.members);
    let brief = |members: &[&MemberKeys]| members.iter().map(|one| view(one)).collect::<Vec<_>>();
    app.out.json(&json!({
        "team_id": team.id,
        "space_id": team.space_id,
        "epoch": made.ring.epoch(),
        "new_key": made.new_key,
        "granted": brief(&granted),
        "new": brief(&new),
        "changed": brief(&changed),
        "without_keys": brief(&without),
    }));
    let (member, why, flag) = match (changed.first(), new.first()) {
        (Some(member), _) => (member, "have changed", "--accept-changed"),
        (None, Some(member)) => (member, "were never compared", "--accept-new"),
        (None, None) => return Ok(()),
    };
    let email = clean(&member.email);
    let message = format!(
        "the keys of {email} {why}, so that the team's key was not granted to them: {COMPARE}, then run `cairn teams grant '{}' {flag} {email}`",
        clean(&team.name)
    );
    Err(Failure::new(Exit::Decision, message).mark_reported())
}

fn granted_members(made: &Granting) -> Vec<&MemberKeys> {
    let members = made.members.iter();
    members.filter(|one| made.grants_to(one.account)).collect()
}

fn members_with_changed_keys(members: &[MemberKeys]) -> Vec<&MemberKeys> {
    members
        .iter()
        .filter(|member| member.status == KeyStatus::Changed)
        .collect()
}

fn difference(app: &App, member: &MemberKeys) -> String {
    let shown = |keys: Option<&PublicKeys>| fingerprint(keys).unwrap_or_default();
    format!(
        "{} {}: was {}, is {}; {COMPARE}",
        app.out.paint(Style::Warning, "changed"),
        clean(&member.email),
        shown(member.pinned.as_ref()),
        shown(member.keys.as_ref())
    )
}

fn fingerprint(keys: Option<&PublicKeys>) -> Option<String> {
    keys.map(PublicKeys::fingerprint)
}

fn words(status: KeyStatus) -> &'static str {
    match status {
        KeyStatus::You => "yours",
        KeyStatus::New => "new: compare",
        KeyStatus::Known => "known",
        KeyStatus::Changed => "CHANGED: compare",
        KeyStatus::NoKeys => "no keys made yet",
        KeyStatus::Unusable => "unusable",
    }
}

fn view(member: &MemberKeys) -> Value {
    let keys = match member.status {
        KeyStatus::You => "you",
        KeyStatus::New => "new",
        KeyStatus::Known => "known",
        KeyStatus::Changed => "changed",
        KeyStatus::NoKeys => "none",
        KeyStatus::Unusable => "unusable",
    };
    json!({
        "user_id": member.account,
        "email": member.email,
        "role": member.role,
        "has_grant": member.has_grant,
        "keys": keys,
        "fingerprint": fingerprint(member.keys.as_ref()),
        "pinned_fingerprint": fingerprint(member.pinned.as_ref().or(match member.status {
            KeyStatus::New | KeyStatus::Known => member.keys.as_ref(),
            KeyStatus::You | KeyStatus::Changed | KeyStatus::NoKeys | KeyStatus::Unusable => None,
        })),
    })
}
