//! Identifiers: UUIDs (RFC 9562) on the service, row numbers in the index. Each is its own type, so that
//! a node can't be passed where a revision belongs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Makes an id from 16 random bytes, with the version and variant bits of a UUID v4.
            #[must_use]
            pub fn from_random_bytes(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
            }

            /// Returns the 16 bytes of the id in network order, for use in associated data.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }
    };
}

uuid_id!(
    /// A person's account on the service.
    AccountId
);
uuid_id!(
    /// One installation of Cairn (one `--home`).
    DeviceId
);
uuid_id!(
    /// A file or folder on the service, for its whole life.
    NodeId
);
uuid_id!(
    /// One immutable content version of a file.
    RevisionId
);
uuid_id!(
    /// A space: the nodes that share one space key, a person's or a team's.
    SpaceId
);

impl SpaceId {
    /// Makes the id of a private space, in which the server has no names: one of a UUID v8. So nobody can take a
    /// private space for an open one, whatever a server says about it.
    #[must_use]
    pub fn private_from_random_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns whether the names in the space are sealed.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.0.get_version_num() == 8
    }
}

uuid_id!(
    /// An upload in progress on the service.
    UploadId
);
uuid_id!(
    /// A team: people who share one space.
    TeamId
);

/// A pair of a local folder and a remote folder; a row number in the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FolderId(pub i64);

/// A local file or directory as the index knows it; stays the same when it is renamed or moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LocalId(pub i64);
