//! `cairn teams keys` and `cairn teams grant`: who is known by which keys, and who gets the team's.

use crate::app::App;
use crate::failure::{Doing as _, Exit, Failure, Outcome};
use crate::output::Style;
use crate::output::table::{Align, Table};
use crate::output::text::clean;
use crate::session::Session;
use crate::{team, trust};
use cairn_crypto::{PublicKeys, SystemRandom};
use cairn_space::{KeyStatus, MemberKeys};
use serde_json::{Value, json};

/// What a person is called upon to do where keys differ.
const COMPARE: &str = "compare the fingerprint with them by another way than this service";

pub(super) async fn show(
    app: &App,
    session: &Session,
    wanted: &str,
    accept: Option<&str>,
) -> Outcome {
    let team = team::find(&session.api, wanted).await?;
    let grants = team::grants(&session.api, &team).await?;
    let people = trust::update(&app.home, &session.keys, |trust| {
        accept.map_or(Ok(()), |email| grants.accept(email, trust))?;
        grants.members(&session.keys, trust)
    })?;
    let mut table = Table::new(&[
        ("E-MAIL", Align::Left),
        ("ROLE", Align::Left),
        ("GRANTED", Align::Left),
        ("FINGERPRINT", Align::Left),
        ("KEYS", Align::Left),
    ]);
    for person in &people {
        table.row([
            person.email.clone(),
            super::role_name(person.role).to_owned(),
            if person.has_grant { "yes" } else { "no" }.to_owned(),
            fingerprint(person.keys.as_ref()).unwrap_or_default(),
            words(person.status).to_owned(),
        ]);
    }
    table.print(&app.out, "The team has no members.");
    for person in changed(&people) {
        app.out.note(difference(app, person));
    }
    app.out.json(&json!({
        "team_id": team.id,
        "space_id": team.space_id,
        "epoch": grants.epoch(),
        "members": people.iter().map(view).collect::<Vec<_>>(),
    }));
    Ok(())
}

pub(super) async fn grant(
    app: &App,
    session: &Session,
    wanted: &str,
    accept: Option<&str>,
) -> Outcome {
    let api = &session.api;
    let team = team::find(api, wanted).await?;
    let grants = team::grants(api, &team).await?;
    let made = trust::update(&app.home, &session.keys, |trust| {
        accept.map_or(Ok(()), |email| grants.accept(email, trust))?;
        grants.grant(&session.keys, trust, &mut SystemRandom)
    })?;
    let sent = grants.send(api, &made).await;
    sent.doing(format_args!("grant the key of {}", team.name))?;
    trust::update(&app.home, &session.keys, |trust| {
        trust.note(team.id, &made.ring);
        Ok::<_, Failure>(())
    })?;

    if made.new_key {
        app.out.line(format_args!(
            "Made a new key for {} (epoch {}).",
            clean(&team.name),
            made.ring.epoch()
        ));
    }
    let granted: Vec<&MemberKeys> = made
        .members
        .iter()
        .filter(|one| made.grants_to(one.account))
        .collect();
    for person in &granted {
        app.out.line(format_args!(
            "Granted to {}  {}",
            clean(&person.email),
            fingerprint(person.keys.as_ref()).unwrap_or_default()
        ));
        if person.status == KeyStatus::New {
            app.out.note(format_args!(
                "{} was seen for the first time: {COMPARE}",
                clean(&person.email)
            ));
        }
    }
    if made.grants.is_empty() {
        app.out.line("Nobody lacks the key who can have it.");
    }
    let without: Vec<&MemberKeys> = made
        .members
        .iter()
        .filter(|one| matches!(one.status, KeyStatus::NoKeys | KeyStatus::Unusable))
        .collect();
    for person in &without {
        app.out.note(format_args!(
            "{} gets no key: {}",
            clean(&person.email),
            words(person.status)
        ));
    }
    let changed = changed(&made.members);
    for person in &changed {
        app.out.note(difference(app, person));
    }
    let brief = |people: &[&MemberKeys]| people.iter().map(|one| view(one)).collect::<Vec<_>>();
    app.out.json(&json!({
        "team_id": team.id,
        "space_id": team.space_id,
        "epoch": made.ring.epoch(),
        "new_key": made.new_key,
        "granted": brief(&granted),
        "changed": brief(&changed),
        "without_keys": brief(&without),
    }));
    let Some(first) = changed.first() else {
        return Ok(());
    };
    let email = clean(&first.email);
    Err(Failure {
        answered: true,
        ..Failure::new(
            Exit::Decision,
            format!(
                "the keys of {email} have changed, so that no key was granted to them: {COMPARE}, then run `cairn teams grant '{}' --accept-changed {email}`",
                clean(&team.name)
            ),
        )
    })
}

fn changed(people: &[MemberKeys]) -> Vec<&MemberKeys> {
    people
        .iter()
        .filter(|person| person.status == KeyStatus::Changed)
        .collect()
}

fn difference(app: &App, person: &MemberKeys) -> String {
    let shown = |keys: Option<&PublicKeys>| fingerprint(keys).unwrap_or_default();
    format!(
        "{} {}: was {}, is {}; {COMPARE}",
        app.out.paint(Style::Warning, "changed"),
        clean(&person.email),
        shown(person.pinned.as_ref()),
        shown(person.keys.as_ref())
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
        KeyStatus::NoKeys => "they have made none yet",
        KeyStatus::Unusable => "what the server gives can be none",
    }
}

fn view(person: &MemberKeys) -> Value {
    let keys = match person.status {
        KeyStatus::You => "you",
        KeyStatus::New => "new",
        KeyStatus::Known => "known",
        KeyStatus::Changed => "changed",
        KeyStatus::NoKeys => "none",
        KeyStatus::Unusable => "unusable",
    };
    json!({
        "user_id": person.account,
        "email": person.email,
        "role": person.role,
        "has_grant": person.has_grant,
        "keys": keys,
        "fingerprint": fingerprint(person.keys.as_ref()),
        "pinned_fingerprint": fingerprint(person.pinned.as_ref().or(match person.status {
            KeyStatus::New | KeyStatus::Known => person.keys.as_ref(),
            KeyStatus::You | KeyStatus::Changed | KeyStatus::NoKeys | KeyStatus::Unusable => None,
        })),
    })
}
