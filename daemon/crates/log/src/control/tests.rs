//! Control statements (signed changes of members, keys and devices): round trips, and each byte that a hostile server
//! may change.

use super::*;
use cairn_model::{AccountId, NodeId};
use proptest::prelude::*;

fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([n; 16])
}

fn bodies() -> Vec<ControlBody> {
    let member = |n, role| Member {
        account: account(n),
        identity: [n; 32],
        role,
    };
    let members = vec![member(1, Role::Owner), member(2, Role::Viewer)];
    let device = |number| Device {
        number,
        key: [number as u8; 32],
    };
    vec![
        ControlBody::Genesis(Genesis {
            is_private: true,
            account: account(1),
            identity: [2; 32],
            clock_ms: 1_700_000_000_000,
            random: [3; 16],
        }),
        ControlBody::Roster(Roster {
            members: members.clone(),
            boxes: [4; 32],
            signed: Some((account(1), [5; 64])),
        }),
        ControlBody::Roster(Roster {
            members,
            boxes: [0; 32],
            signed: None,
        }),
        ControlBody::Epoch(Epoch {
            epoch: 300,
            check: [6; 32],
            boxes: [7; 32],
        }),
        ControlBody::DeviceList(DeviceList {
            identity: [8; 32],
            counter: 5,
            rsa: Box::new([9; 384]),
            kem: Box::new([10; 1184]),
            devices: vec![device(1), device(1 << 30)],
            signature: [11; 64],
        }),
        ControlBody::Invitation(Invitation {
            invite: [12; 16],
            token: [13; 32],
            role: Some(Role::Member),
            expiry_ms: 1_700_000_000_000,
        }),
        ControlBody::Invitation(Invitation {
            invite: [12; 16],
            token: [13; 32],
            role: None,
            expiry_ms: 0,
        }),
        ControlBody::Checkpoint(Checkpoint {
            position: 640,
            root: [14; 32],
            digest: [15; 32],
            epoch: 2,
        }),
        ControlBody::Link(LinkNotice {
            act: 3,
            top: NodeId::from_random_bytes([16; 16]),
            listing: 4,
            hash: [17; 32],
        }),
        ControlBody::Rejoin(Rejoin {
            history: [18; 16],
            size: 70,
            root: [19; 32],
        }),
        ControlBody::Joined(Joined {
            is_in: true,
            genesis: [20; 32],
            size: 80,
            root: [21; 32],
        }),
        ControlBody::Identity(IdentityChange {
            is_objection: true,
            old: [22; 32],
            new: [23; 32],
            signature: [24; 64],
        }),
    ]
}

fn encode_control(body: ControlBody) -> Vec<u8> {
    Control {
        chain: [1; 16],
        prev: [2; 16],
        body,
    }
    .encode()
    .unwrap()
}

#[test]
fn control_statements_come_back() {
    for body in bodies() {
        let control = Control {
            chain: [1; 16],
            prev: [2; 16],
            body,
        };
        let bytes = control.encode().unwrap();
        assert_eq!(Control::decode(&bytes), Ok(control));
    }
}

#[test]
fn codes_outside_their_range_are_refused() {
    for body in bodies() {
        let bytes = encode_control(body.clone());
        let at = match body {
            ControlBody::Genesis(_)
            | ControlBody::Link(_)
            | ControlBody::Joined(_)
            | ControlBody::Identity(_) => 33,
            ControlBody::Roster(_) => 33 + 1 + 16 + 32,
            ControlBody::Invitation(_) => 33 + 16 + 32,
            ControlBody::Epoch(_)
            | ControlBody::DeviceList(_)
            | ControlBody::Checkpoint(_)
            | ControlBody::Rejoin(_) => continue,
        };
        let mut bad = bytes.clone();
        bad[at] = 5;
        assert_eq!(Control::decode(&bad), Err(LogError::NotGenuine), "{body:?}");
    }
}

#[test]
fn half_a_signature_is_none() {
    let members = vec![Member {
        account: account(1),
        identity: [1; 32],
        role: Role::Owner,
    }];
    let boxes = [0; 32];
    let by_nobody = Roster {
        members: members.clone(),
        boxes,
        signed: Some((AccountId(Uuid::nil()), [1; 64])),
    };
    let unsigned = Roster {
        members,
        boxes,
        signed: Some((account(1), [0; 64])),
    };
    for roster in [by_nobody, unsigned] {
        let bytes = encode_control(ControlBody::Roster(roster));
        assert_eq!(Control::decode(&bytes), Err(LogError::NotGenuine));
    }
}

#[test]
fn chains_of_devices_and_accounts_never_meet() {
    let id = Uuid::from_bytes([0xab; 16]);
    let chains = [
        checkpoint_chain(1),
        checkpoint_chain(2),
        rejoin_chain(1),
        rejoin_chain(2),
        identity_chain(&id),
        *id.as_bytes(),
    ];
    let distinct: std::collections::BTreeSet<_> = chains.iter().collect();
    assert_eq!(distinct.len(), chains.len());
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), value: u8,
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encode_control(bodies().swap_remove(which.index(bodies().len())));
        prop_assert!(Control::decode(&bytes[..cut.index(bytes.len())]).is_err());
        prop_assert!(Control::decode(&[&bytes[..], &[0]].concat()).is_err());
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(control) = Control::decode(&bytes) {
            prop_assert_eq!(control.encode()?, bytes);
        }
    }
}
