//! Granting the team's key, and opening it, between devices, through a server that may send anything.

use super::*;
use cairn_crypto::format2::{Compression, SealedObject};
use cairn_crypto::{
    Class, NodeKey, Replacement, RootCost, Rotation, SpaceKeys, SystemRandom, content_hash,
    create_account, make_grant, rotate,
};
use cairn_model::{NodeId, SpaceId, TeamId};
use cairn_wire::teams::NewGrant;
use cairn_wire::{Sealed, Timestamp};

const OWNER: usize = 0;

/// One person with one device.
struct Device {
    own: AccountKeys,
    trust: Trust,
}

/// The state of the server. People are members in the order of their devices, the first is the
/// owner.
struct Server {
    space: SpaceId,
    epoch: u32,
    used: bool,
    members: Vec<(AccountId, Option<PublicKeys>)>,
    grants: Vec<Grant>,
}

fn device(n: u8) -> Device {
    let (account, space) = (
        AccountId::from_random_bytes([n; 16]),
        SpaceId::from_random_bytes([n; 16]),
    );
    let made = create_account("p", account, space, RootCost::LEAST, &mut SystemRandom);
    Device {
        own: made.unwrap().1,
        trust: Trust::default(),
    }
}

impl Server {
    fn of(devices: &[Device]) -> Self {
        let members = devices
            .iter()
            .map(|one| (one.own.account, Some(one.own.public())));
        Self {
            space: SpaceId::from_random_bytes([0xee; 16]),
            epoch: 1,
            used: false,
            members: members.collect(),
            grants: Vec::new(),
        }
    }

    fn grants_seen_by(&self, viewer: AccountId) -> TeamGrants {
        let owner = self.members[OWNER].0;
        let role = |account| {
            if account == owner {
                TeamRole::Owner
            } else {
                TeamRole::Member
            }
        };
        let members = self.members.iter().map(|(account, keys)| Member {
            account: *account,
            email: format!("{}@example.com", account.as_bytes()[0]),
            role: role(*account),
            has_grant: self
                .grants
                .iter()
                .any(|grant| grant.user_id == *account && grant.epoch == self.epoch),
            keys: keys.clone().map_or(Served::None, Served::Keys),
        });
        let mine = self.grants.iter().filter(|one| one.user_id == viewer);
        TeamGrants {
            team: Team {
                id: TeamId::from_random_bytes([0xdd; 16]),
                name: "crew".into(),
                role: role(viewer),
                owner_id: owner,
                owner_name: "Owner".into(),
                member_count: self.members.len() as u64,
                space_id: self.space,
                key_epoch: self.epoch,
                created_at: Timestamp(0),
            },
            epoch: self.epoch,
            grants: mine.cloned().collect(),
            members: members.collect(),
            used: self.used || !self.grants.is_empty(),
        }
    }

    fn put(&mut self, by: AccountId, epoch: u32, new: Vec<NewGrant>) {
        self.grants.extend(new.into_iter().map(|one| Grant {
            epoch,
            user_id: one.user_id,
            grant: one.grant,
            granted_by: by,
            created_at: Timestamp(0),
        }));
    }

    /// Grants after having accepted all new members.
    fn grant(&mut self, by: &mut Device) -> Result<Granting, TeamError> {
        let view = self.grants_seen_by(by.own.account);
        for member in view.members(&by.own, &mut by.trust)? {
            if member.status == KeyStatus::New {
                view.accept_new(&member.email, &mut by.trust)?;
            }
        }
        self.grant_accepted(by)
    }

    fn grant_accepted(&mut self, by: &mut Device) -> Result<Granting, TeamError> {
        let view = self.grants_seen_by(by.own.account);
        let made = view.grant(&by.own, &mut by.trust, &mut SystemRandom)?;
        by.trust.note(view.team.id, &made.ring);
        self.put(by.own.account, made.ring.epoch(), made.grants.clone());
        Ok(made)
    }

    /// Opens the team's keys after having accepted whoever is new, as a person does who has compared.
    fn open(&self, by: &mut Device) -> Result<KeyRing, TeamError> {
        for (account, keys) in &self.members {
            if let Some(keys) = keys.as_ref().filter(|_| *account != by.own.account) {
                by.trust.compare(*account, keys);
                by.trust.accept_new(*account, keys);
            }
        }
        self.open_unasked(by)
    }

    /// Opens the team's keys with nobody at hand to compare anything.
    fn open_unasked(&self, by: &mut Device) -> Result<KeyRing, TeamError> {
        let view = self.grants_seen_by(by.own.account);
        view.open(&by.own, &mut by.trust)
    }

    /// Takes somebody out, as the real one does.
    fn remove(&mut self, who: AccountId) {
        self.members.retain(|(account, _)| *account != who);
        self.grants.retain(|grant| grant.user_id != who);
        self.epoch += 1;
    }
}

fn class(refused: Result<KeyRing, TeamError>) -> Class {
    let error = refused.unwrap_err();
    let TeamError::Refused { source, .. } = &error else {
        panic!("{error}");
    };
    source.class()
}

fn opens(keys: &SpaceKeys, written: &Written) -> bool {
    let (key, object) = written;
    let Ok(key) = keys.node_key_at(key.at()) else {
        return false;
    };
    let hash = content_hash(b"x").0;
    key.open_chunk(&object.id, &object.bytes, 1, &hash).is_ok()
}

/// A chunk, and the key that it was sealed with.
type Written = (NodeKey, SealedObject);

fn write(keys: &SpaceKeys) -> Written {
    let key = keys.node_key(NodeId::from_random_bytes([1; 16]));
    let sealed = key.seal_chunk(b"x", Compression::On).unwrap();
    (key, sealed)
}

#[test]
fn members_share_a_key_and_whoever_leaves_opens_nothing_written_after() {
    let mut all = [device(1), device(2), device(3)];
    let mut server = Server::of(&all);
    server.members[2].1 = None;
    let [owner, leaver, late] = &mut all;
    let none = server.open(owner).unwrap_err();
    assert!(matches!(none, TeamError::NotGranted { .. }), "{none}");
    assert!(none.to_string().contains("has no key yet"), "{none}");
    let asks = server.open(leaver).unwrap_err().to_string();
    assert!(asks.contains("ask somebody else who owns"), "{asks}");
    let no_right = server.grant(leaver).unwrap_err();
    assert!(matches!(no_right, TeamError::NoRight { .. }), "{no_right}");

    let made = server.grant(owner).unwrap();
    assert!(made.new_key && made.grants.len() == 2);
    assert_eq!(made.members[2].status, KeyStatus::NoKeys);
    let before = server.open(leaver).unwrap();
    assert_eq!(before.check_value(1), made.ring.check_value(1));
    let written_before = write(&before.keys());
    assert!(server.open(late).is_err());

    // Keys come, a grant follows, and nobody else gets another.
    server.members[2].1 = Some(late.own.public());
    let made = server.grant(owner).unwrap();
    assert!(!made.new_key && made.grants_to(late.own.account) && made.grants.len() == 1);
    assert!(opens(&server.open(late).unwrap().keys(), &written_before));
    assert!(server.grant(owner).unwrap().grants.is_empty());

    server.remove(leaver.own.account);
    let waits = server.open(late).unwrap_err();
    assert!(matches!(waits, TeamError::NotGranted { .. }), "{waits}");
    let lacks = server.open(owner).unwrap_err().to_string();
    assert!(
        lacks.contains("run `cairn teams grant 'crew'`, which makes"),
        "{lacks}"
    );
    let made = server.grant(owner).unwrap();
    assert!(made.new_key && made.ring.epoch() == 2 && made.grants.len() == 2);
    let now = server.open(late).unwrap().keys();
    let written_after = write(&now);
    assert!(opens(&now, &written_before) && opens(&now, &written_after));
    assert!(!opens(&before.keys(), &written_after));
}

#[test]
fn changed_keys_get_nothing_until_the_very_ones_that_were_shown_are_accepted() {
    let mut all = [device(1), device(2), device(3)];
    let mut server = Server::of(&all);
    let changed = device(2).own.public();
    let again = device(2).own.public();
    let [owner, member, other] = &mut all;
    let email = "2@example.com";
    let look = |server: &Server, owner: &mut Device| {
        let people = server.grants_seen_by(owner.own.account);
        people.members(&owner.own, &mut owner.trust).unwrap()
    };
    let statuses = |members: Vec<MemberKeys>| members.iter().map(|p| p.status).collect::<Vec<_>>();
    use KeyStatus::{Changed, Known, New, You};
    assert_eq!(statuses(look(&server, owner)), [You, New, New]);
    assert_eq!(statuses(look(&server, owner)), [You, New, New]);

    let accept = |server: &Server, owner: &mut Device| {
        let view = server.grants_seen_by(owner.own.account);
        view.accept_changed(email, &mut owner.trust)
    };
    server.members[1].1 = Some(changed.clone());
    assert!(accept(&server, owner).is_err(), "nobody has compared");
    let made = server.grant(owner).unwrap();
    assert_eq!(statuses(made.members.clone()), [You, Changed, Known]);
    assert_eq!(made.members[1].pinned, Some(member.own.public()));
    assert!(!made.grants_to(member.own.account) && made.grants_to(other.own.account));

    // Others than those that a person has looked at.
    server.members[1].1 = Some(again);
    assert!(accept(&server, owner).is_err());
    server.members[1].1 = Some(changed);
    accept(&server, owner).unwrap();
    assert_eq!(statuses(look(&server, owner)), [You, Known, Known]);
    assert!(server.grant(owner).unwrap().grants_to(member.own.account));
    // It was sealed to the keys that were accepted.
    assert_eq!(class(server.open(member)), Class::AuthFailed);
}

#[test]
fn a_replaced_signing_key_grants_nothing_new() {
    let mut all = [device(1), device(2)];
    let mut server = Server::of(&all);
    let replaced = device(1).own.public();
    let [owner, member] = &mut all;
    server.grant(owner).unwrap();
    server.open(member).unwrap();
    // The owner replaces their keys, and the member accepts the new ones.
    server.members[OWNER].1 = Some(replaced);
    let view = server.grants_seen_by(member.own.account);
    view.members(&member.own, &mut member.trust).unwrap();
    view.accept_changed("1@example.com", &mut member.trust)
        .unwrap();
    server.open(member).unwrap();
    // Whoever has the former keys grants a key of their choice.
    server.members[OWNER].1 = Some(owner.own.public());
    let view = server.grants_seen_by(owner.own.account);
    let forged = view
        .grant_next_epoch(&owner.own, &mut owner.trust, &mut SystemRandom)
        .unwrap();
    assert!(forged.raises && forged.grants_to(member.own.account));
    server.epoch = 2;
    server.put(owner.own.account, 2, forged.grants);
    assert_eq!(class(server.open(member)), Class::AuthFailed);
}

#[test]
fn the_key_that_was_taken_along_serves_for_a_new_one_and_for_nothing_else() {
    let mut all = [device(1), device(2)];
    let mut server = Server::of(&all);
    let [owner, member] = &mut all;
    server.grant(owner).unwrap();
    let before = server.open(owner).unwrap();
    server.open(member).unwrap();
    let written_before = write(&before.keys());
    let view = server.grants_seen_by(owner.own.account);
    let ring = view.newest_ring(&owner.own, &mut owner.trust).unwrap();
    let (bundle, unlocked, _) = create_account(
        "p",
        owner.own.account,
        owner.own.space.space(),
        RootCost::LEAST,
        &mut SystemRandom,
    )
    .unwrap();
    let rotation = Rotation {
        passphrase: "p",
        cost: RootCost::LEAST,
        team_rings: ring.into_iter().collect(),
        replaced: Replacement {
            at_ms: 0,
            device: "desk".into(),
        },
    };
    owner.own = rotate(&bundle, &unlocked, rotation, &mut SystemRandom)
        .unwrap()
        .1;
    // As the real one does, the server drops the grants to the former keys.
    server.members[OWNER].1 = Some(owner.own.public());
    server.grants.retain(|one| one.user_id != owner.own.account);
    let refused = server.open(owner).unwrap_err();
    let renews = "run `cairn teams grant 'crew' --new-key`";
    assert!(refused.to_string().contains(renews), "{refused}");
    let view = server.grants_seen_by(owner.own.account);
    let made = view
        .grant_next_epoch(&owner.own, &mut owner.trust, &mut SystemRandom)
        .unwrap();
    assert!(made.grants_to(member.own.account) && made.grants_to(owner.own.account));
    server.epoch = made.ring.epoch();
    server.put(owner.own.account, 2, made.grants);
    let now = server.open(owner).unwrap().keys();
    assert!(opens(&now, &written_before) && !opens(&before.keys(), &write(&now)));
    // The member has to compare first.
    let changed = server.open(member).unwrap_err();
    assert!(matches!(changed, TeamError::KeyChanged { .. }), "{changed}");
}

#[test]
fn a_member_gets_no_key_before_a_person_has_accepted_theirs() {
    let mut all = [device(1), device(2), device(3)];
    let mut server = Server::of(&all);
    let [owner, member, ghost] = &mut all;
    for _ in 0..2 {
        let made = server.grant_accepted(owner).unwrap();
        assert!(!made.grants_to(member.own.account) && !made.grants_to(ghost.own.account));
    }
    let view = server.grants_seen_by(owner.own.account);
    view.accept_new("2@example.com", &mut owner.trust).unwrap();
    let made = server.grant_accepted(owner).unwrap();
    assert!(made.grants_to(member.own.account) && !made.grants_to(ghost.own.account));
    let unknown = view.accept_new("9@example.com", &mut owner.trust);
    assert!(matches!(unknown, Err(TeamError::NotNew { .. })));
    // Keys that took the place of the accepted ones are no new ones.
    server.members[1].1 = Some(device(2).own.public());
    let view = server.grants_seen_by(owner.own.account);
    let changed = view.accept_new("2@example.com", &mut owner.trust);
    assert!(matches!(changed, Err(TeamError::NotNew { .. })));
}

#[test]
fn two_members_with_one_address_or_one_key_end_the_granting() {
    let mut all = [device(1), device(2), device(3)];
    let mut server = Server::of(&all);
    let [owner, member, _] = &mut all;
    let ambiguous = |view: &TeamGrants, owner: &mut Device| {
        let granted = view.grant(&owner.own, &mut owner.trust, &mut SystemRandom);
        matches!(granted, Err(TeamError::Ambiguous { .. }))
            && view.accept_new("2@example.com", &mut owner.trust).is_err()
    };
    let mut view = server.grants_seen_by(owner.own.account);
    assert!(!ambiguous(&view, owner));
    view.members[2].email = "2@Example.com".into();
    assert!(ambiguous(&view, owner));
    server.members[2].1 = Some(member.own.public());
    assert!(ambiguous(&server.grants_seen_by(owner.own.account), owner));
}

#[test]
fn a_server_that_hides_replaces_or_rolls_back_keys_is_refused() {
    let mut all = [device(1), device(2)];
    let mut server = Server::of(&all);
    let invented = device(9);
    let [owner, member] = &mut all;

    server.used = true;
    let withheld = server.grant(owner).unwrap_err();
    assert!(
        matches!(withheld, TeamError::KeyWithheld { .. }),
        "{withheld}"
    );
    server.used = false;
    server.grant(owner).unwrap();
    server.open(member).unwrap();

    // All grants are gone, and the space is said to be new.
    let kept = std::mem::take(&mut server.grants);
    let withheld = server.grant(owner).unwrap_err();
    assert!(
        matches!(withheld, TeamError::KeyWithheld { .. }),
        "{withheld}"
    );
    server.grants = kept.clone();

    // An admin whom nobody knows grants a key of the server's own making.
    server.epoch = 2;
    server
        .members
        .push((invented.own.account, Some(invented.own.public())));
    let ring = KeyRing::generate(server.space, 2, &mut SystemRandom);
    let to = member.own.public();
    let forged = |ring: &KeyRing, by: &AccountKeys| {
        make_grant(ring, by, member.own.account, &to, &mut SystemRandom).unwrap()
    };
    let put = |server: &mut Server, by: AccountId, epoch, grant| {
        server.grants.clone_from(&kept);
        let new = NewGrant {
            user_id: member.own.account,
            grant: Sealed(grant),
        };
        server.put(by, epoch, vec![new]);
    };
    let (by_invented, stranger) = (forged(&ring, &invented.own), invented.own.account);
    put(&mut server, stranger, 2, by_invented.clone());
    let view = server.grants_seen_by(member.own.account);
    let opened = |view: &TeamGrants, trust: &mut Trust| view.open(&member.own, trust);
    assert_eq!(class(opened(&view, &mut member.trust)), Class::AuthFailed);
    // The same under the owner's name.
    put(&mut server, owner.own.account, 2, by_invented);
    let view = server.grants_seen_by(member.own.account);
    assert_eq!(class(opened(&view, &mut member.trust)), Class::AuthFailed);
    // And with the owner's keys replaced to fit.
    server.members[OWNER].1 = Some(invented.own.public());
    let view = server.grants_seen_by(member.own.account);
    let changed = opened(&view, &mut member.trust).unwrap_err();
    assert!(matches!(changed, TeamError::KeyChanged { .. }), "{changed}");
    server.members[OWNER].1 = Some(owner.own.public());

    // The state of yesterday, after the key was renewed.
    server.grants.clone_from(&kept);
    server.grant(owner).unwrap();
    let view = server.grants_seen_by(member.own.account);
    opened(&view, &mut member.trust).unwrap();
    server.epoch = 1;
    let view = server.grants_seen_by(member.own.account);
    assert_eq!(class(opened(&view, &mut member.trust)), Class::Rollback);
    server.epoch = 2;
    server.grants.retain(|grant| grant.epoch == 1);
    let view = server.grants_seen_by(member.own.account);
    assert_eq!(class(opened(&view, &mut member.trust)), Class::Rollback);
    // Another space, and other keys for ourselves.
    server.grants.clone_from(&kept);
    server.space = SpaceId::from_random_bytes([1; 16]);
    let view = server.grants_seen_by(member.own.account);
    assert_eq!(class(opened(&view, &mut member.trust)), Class::AuthFailed);
    server.members[1].1 = Some(invented.own.public());
    let view = server.grants_seen_by(member.own.account);
    let replaced = view.members(&member.own, &mut member.trust).unwrap_err();
    assert!(matches!(
        replaced,
        TeamError::Refused {
            source: CryptoError::KeyChanged,
            ..
        }
    ));
}

/// Lets the server invent an admin who grants a member a key of the server's choice.
fn invent_admin(server: &mut Server, to: &Device) -> Device {
    let invented = device(9);
    let ring = KeyRing::generate(server.space, server.epoch, &mut SystemRandom);
    let (account, keys) = (to.own.account, to.own.public());
    let grant = make_grant(&ring, &invented.own, account, &keys, &mut SystemRandom).unwrap();
    let keys = Some(invented.own.public());
    server.members.push((invented.own.account, keys));
    let new = NewGrant {
        user_id: account,
        grant: Sealed(grant),
    };
    server.put(invented.own.account, server.epoch, vec![new]);
    invented
}

#[test]
fn a_device_new_to_a_team_takes_no_key_from_somebody_whom_nobody_has_accepted() {
    let mut all = [device(1), device(2)];
    let mut server = Server::of(&all);
    let member = &mut all[1];
    let invented = invent_admin(&mut server, member);
    // Looking at the keys accepts nothing, and neither does a second try.
    let view = server.grants_seen_by(member.own.account);
    for _ in 0..2 {
        let refused = server.open_unasked(member).unwrap_err();
        let TeamError::NewGranter {
            who, fingerprint, ..
        } = refused
        else {
            panic!("{refused}");
        };
        assert_eq!(who, "9@example.com");
        assert_eq!(fingerprint, invented.own.public().fingerprint());
        view.members(&member.own, &mut member.trust).unwrap();
        let refused = view.newest_ring(&member.own, &mut member.trust);
        assert!(matches!(refused, Err(TeamError::NewGranter { .. })));
    }
    // Whoever takes the invented one's place is no more accepted than they are.
    server.members[2].1 = Some(device(9).own.public());
    let other = server.grants_seen_by(member.own.account);
    let accepted = other.accept_new("9@example.com", &mut member.trust);
    assert!(matches!(accepted, Err(TeamError::NotNew { .. })));

    // The honest owner's key is taken once a person has compared, and later ones of theirs without another look.
    let mut server = Server::of(&all);
    let [owner, member] = &mut all;
    server.grant(owner).unwrap();
    let refused = server.open_unasked(member).unwrap_err();
    assert!(matches!(refused, TeamError::NewGranter { .. }), "{refused}");
    let view = server.grants_seen_by(member.own.account);
    view.accept_new("1@example.com", &mut member.trust).unwrap();
    server.open_unasked(member).unwrap();
    server.epoch = 2;
    server.grant(owner).unwrap();
    assert_eq!(server.open_unasked(member).unwrap().epoch(), 2);
}

#[test]
fn a_key_that_a_device_had_before_is_opened_whoever_hands_it_out_and_no_later_one() {
    let mut all = [device(1), device(2)];
    let mut server = Server::of(&all);
    let [owner, member] = &mut all;
    server.grant(owner).unwrap();
    let ring = server.open(member).unwrap();
    // As it was kept by earlier versions: pinned, accepted by nobody.
    member.trust = Trust::default();
    let keys = owner.own.public();
    member.trust.compare(owner.own.account, &keys);
    let team = server.grants_seen_by(member.own.account).team.id;
    member.trust.note(team, &ring);
    server.open_unasked(member).unwrap();
    server.epoch = 2;
    server.grant(owner).unwrap();
    let refused = server.open_unasked(member).unwrap_err();
    assert!(matches!(refused, TeamError::NewGranter { .. }), "{refused}");
}

#[test]
fn a_key_of_somebody_who_has_left_as_the_server_claims_is_neither_noted_nor_taken_along() {
    let mut all = [device(1)];
    let mut server = Server::of(&all);
    let [owner] = &mut all;
    let invented = invent_admin(&mut server, owner);
    server.members.pop();
    server.epoch = 2;
    let view = server.grants_seen_by(owner.own.account);
    let taken = view.ring_to_take_along(&owner.own, &mut owner.trust);
    assert!(matches!(taken, Err(TeamError::NotGranted { .. })));
    assert!(view.newest_ring(&owner.own, &mut owner.trust).is_ok());
    // Now it is said to be the one in force.
    server.epoch = 1;
    let keys = Some(invented.own.public());
    server.members.push((invented.own.account, keys));
    let refused = server.open_unasked(owner).unwrap_err();
    assert!(matches!(refused, TeamError::NewGranter { .. }), "{refused}");
}

#[test]
fn a_key_that_somebody_granted_who_has_left_since_is_renewed_by_a_new_device() {
    let mut all = [device(1), device(2), device(3)];
    let mut server = Server::of(&all);
    server.grant(&mut all[OWNER]).unwrap();
    // The second takes over.
    server.members.swap(0, 1);
    let gone = all[OWNER].own.account;
    server.remove(gone);
    all[1].trust = Trust::default();
    let made = server.grant(&mut all[1]).unwrap();
    assert!(made.new_key && made.ring.check_value(1).is_some());
    let ring = server.open(&mut all[2]).unwrap();
    assert_eq!(ring.check_value(2), made.ring.check_value(2));
    // What is pinned and noted survives being sealed.
    let device = &all[2];
    let key = device.own.trust_key();
    let sealed = device.trust.seal(&key, &mut SystemRandom).unwrap();
    assert_eq!(Trust::open(&key, &sealed).unwrap(), device.trust);
    let stranger = all[1].own.trust_key();
    assert!(Trust::open(&stranger, &sealed).is_err());
}
