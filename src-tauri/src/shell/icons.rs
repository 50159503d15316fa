//! The pictures of the tray, built into the program. Their sources are in `icons/tray/*.svg`.

use crate::settings::IconScheme;
use crate::tray::Icon;

/// Name, light strokes, dark strokes.
type Row = (&'static str, &'static [u8], &'static [u8]);

const PICTURES: &[Row] = &[
    (
        "idle",
        include_bytes!("../../../icons/tray/idle-light.png"),
        include_bytes!("../../../icons/tray/idle-dark.png"),
    ),
    (
        "syncing-0",
        include_bytes!("../../../icons/tray/syncing-0-light.png"),
        include_bytes!("../../../icons/tray/syncing-0-dark.png"),
    ),
    (
        "syncing-1",
        include_bytes!("../../../icons/tray/syncing-1-light.png"),
        include_bytes!("../../../icons/tray/syncing-1-dark.png"),
    ),
    (
        "syncing-2",
        include_bytes!("../../../icons/tray/syncing-2-light.png"),
        include_bytes!("../../../icons/tray/syncing-2-dark.png"),
    ),
    (
        "syncing-3",
        include_bytes!("../../../icons/tray/syncing-3-light.png"),
        include_bytes!("../../../icons/tray/syncing-3-dark.png"),
    ),
    (
        "paused",
        include_bytes!("../../../icons/tray/paused-light.png"),
        include_bytes!("../../../icons/tray/paused-dark.png"),
    ),
    (
        "offline",
        include_bytes!("../../../icons/tray/offline-light.png"),
        include_bytes!("../../../icons/tray/offline-dark.png"),
    ),
    (
        "attention",
        include_bytes!("../../../icons/tray/attention-light.png"),
        include_bytes!("../../../icons/tray/attention-dark.png"),
    ),
    (
        "error",
        include_bytes!("../../../icons/tray/error-light.png"),
        include_bytes!("../../../icons/tray/error-dark.png"),
    ),
];

/// Returns the PNG of an icon. An unknown name would show the first: a test makes sure there is none.
#[must_use]
pub fn picture(icon: Icon, scheme: IconScheme) -> &'static [u8] {
    let found = PICTURES.iter().find(|(name, ..)| *name == icon.name());
    let (_, light, dark) = found.unwrap_or(&PICTURES[0]);
    match scheme {
        IconScheme::Light => light,
        IconScheme::Dark => dark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::SyncState;
    use std::collections::BTreeSet;

    #[test]
    fn each_state_quarter_and_scheme_has_its_own_picture() {
        let states = [
            SyncState::Idle,
            SyncState::Paused,
            SyncState::Offline,
            SyncState::Attention,
            SyncState::Error,
        ];
        let icons = states
            .map(|state| Icon { state, quarter: 0 })
            .into_iter()
            .chain((0..4).map(|quarter| Icon {
                state: SyncState::Syncing,
                quarter,
            }));
        let mut seen = BTreeSet::new();
        for icon in icons {
            for scheme in [IconScheme::Light, IconScheme::Dark] {
                let png = picture(icon, scheme);
                assert!(png.starts_with(b"\x89PNG"));
                assert!(seen.insert(png), "{icon:?} {scheme:?} looks like another");
            }
        }
        assert_eq!(seen.len(), 18);
    }
}
