//! Changes of an identity: who claims one, and who objects.

use super::people::team;
use super::world::{World, account, identity};
use super::*;
use crate::control::{IdentityChange, identity_chain};

#[test]
fn a_claim_is_signed_by_the_new_identity_and_an_objection_by_the_old() {
    let mut world = World::with_genesis(false);
    let chain = identity_chain(&account(1).0);
    for is_objection in [false, true] {
        let (old, new) = (identity(1).public(), identity(9).public());
        let mut change = IdentityChange {
            is_objection,
            old,
            new,
            signature: [0; 64],
        };
        let signed = change.to_sign(account(1));
        let (right, wrong) = if is_objection { (1, 9) } else { (9, 1) };
        for (by, expected) in [(wrong, false), (right, true)] {
            change.signature = identity(by).sign(&signed);
            let statement = world.next(chain, ControlBody::Identity(change.clone()));
            let done = world.commit(&[statement]);
            assert_eq!(done.is_ok(), expected, "{is_objection} by {by}: {done:?}");
        }
    }
    let mut team = team();
    let change = IdentityChange {
        is_objection: false,
        old: [1; 32],
        new: [2; 32],
        signature: [3; 64],
    };
    let statement = team.next(chain, ControlBody::Identity(change));
    assert_eq!(
        team.commit(&[statement]),
        Err(Refusal::Role),
        "a team is nobody's personal space"
    );
}
