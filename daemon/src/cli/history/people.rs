//! The devices and accounts behind events, as far as the service tells: a device of this account by its name, one of
//! somebody else by the address under which it has sent files.

use crate::account::Account;
use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::remote::Remote;
use cairn_model::DeviceId;
use cairn_space::past::Event;
use cairn_wire::nodes::Revision;
use std::collections::HashMap;

/// The devices that are known.
pub(super) struct People {
    /// The address of this account.
    own: String,
    /// The names of its devices.
    devices: HashMap<DeviceId, String>,
    /// The addresses under which other devices have sent files.
    others: HashMap<DeviceId, String>,
}

impl People {
    /// Asks the service for the devices of this account.
    pub(super) async fn ask(app: &App, remote: &Remote) -> CommandResult<Self> {
        let devices = remote.api.devices().await.context("list the devices")?;
        Ok(Self {
            own: Account::load(&app.home)?.email,
            devices: devices.into_iter().map(|one| (one.id, one.name)).collect(),
            others: HashMap::new(),
        })
    }

    /// Learns from versions of files which device is whose.
    pub(super) fn learn<'a>(&mut self, revisions: impl IntoIterator<Item = &'a Revision>) {
        for revision in revisions {
            if let Some(device) = revision.device_id {
                self.others.insert(device, revision.uploaded_by.clone());
            }
        }
    }

    /// Returns the address of the account behind an event: what the event says, else whose device it was.
    pub(super) fn by<'a>(&'a self, event: &'a Event) -> Option<&'a str> {
        let known = event.by.as_deref();
        known.or_else(|| {
            let device = event.device?;
            match self.devices.contains_key(&device) {
                true => Some(&*self.own),
                false => self.others.get(&device).map(String::as_str),
            }
        })
    }

    /// Returns the name of the device behind an event, if it is one of this account.
    pub(super) fn device(&self, event: &Event) -> Option<&str> {
        self.devices.get(&event.device?).map(String::as_str)
    }

    /// Returns the device behind an event in words; nothing if the service doesn't tell one.
    pub(super) fn device_in_words(&self, event: &Event) -> &str {
        match (self.device(event), event.device) {
            (Some(name), _) => name,
            (None, Some(_)) if self.by(event) == Some(&*self.own) => "a removed device",
            (None, Some(_)) => "another device",
            (None, None) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{NodeId, PastKind, RevisionId};
    use cairn_wire::Timestamp;

    fn device(n: u8) -> DeviceId {
        DeviceId::from_random_bytes([n; 16])
    }

    fn deleted_by(n: Option<u8>) -> Event {
        Event {
            at_ms: 1,
            kind: PastKind::Deleted,
            node: NodeId::from_random_bytes([1; 16]),
            path: "/f".into(),
            from: None,
            device: n.map(device),
            by: None,
            version: None,
            revision: None,
            bytes: None,
        }
    }

    fn sent(n: u8, by: &str) -> Revision {
        Revision {
            id: RevisionId::from_random_bytes([1; 16]),
            node_id: NodeId::from_random_bytes([1; 16]),
            number: 1,
            size: 1,
            created_at: Timestamp(1),
            modified_at: None,
            current: true,
            device_id: Some(device(n)),
            uploaded_by: by.into(),
            content_source: None,
        }
    }

    #[test]
    fn whoever_has_moved_or_deleted_is_known_by_their_device() {
        let mut people = People {
            own: "ada@example.com".into(),
            devices: HashMap::from([(device(1), "laptop".to_owned())]),
            others: HashMap::new(),
        };
        people.learn(&[sent(2, "bob@example.com"), sent(3, "ada@example.com")]);
        for (n, name, words, by) in [
            (Some(1), Some("laptop"), "laptop", Some("ada@example.com")),
            (Some(2), None, "another device", Some("bob@example.com")),
            (Some(3), None, "a removed device", Some("ada@example.com")),
            (Some(4), None, "another device", None),
            (None, None, "", None),
        ] {
            let event = deleted_by(n);
            assert_eq!(people.device(&event), name);
            assert_eq!(people.device_in_words(&event), words);
            assert_eq!(people.by(&event), by);
        }
        let with_address = Event {
            by: Some("eve@example.com".into()),
            ..deleted_by(None)
        };
        assert_eq!(people.by(&with_address), Some("eve@example.com"));
    }
}
