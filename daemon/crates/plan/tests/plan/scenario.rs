//! Two devices and a service: a common base, changes on both, and what comes out.

use crate::device::Device;
use crate::service::Service;
use cairn_model::Name;
use cairn_plan::Step;

pub(crate) struct Pair {
    pub(crate) service: Service,
    pub(crate) first: Device,
    pub(crate) second: Device,
}

impl Pair {
    /// Both devices have the base, and nothing is left to do.
    pub(crate) fn with(base: &str) -> Self {
        let mut pair = Self {
            service: Service::default(),
            first: Device::new("first"),
            second: Device::new("second"),
        };
        for token in base.split_whitespace() {
            match token.strip_suffix('/') {
                Some(folder) => pair.first.user(&format!("mkdir {folder}")),
                None => pair.first.user(token),
            }
        }
        pair.first.sync(&mut pair.service);
        pair.second.sync(&mut pair.service);
        pair.second.assert_equal_to(&pair.service);
        pair.forget_counts();
        pair
    }

    pub(crate) fn forget_counts(&mut self) {
        self.service.moves = 0;
        self.service.deletions = 0;
        for device in [&mut self.first, &mut self.second] {
            device.transfers = 0;
            device.local_moves = 0;
        }
    }

    /// The first device commits first; then both in turn until nothing is left.
    pub(crate) fn sync(&mut self) {
        for _ in 0..20 {
            let mut steps = self.first.sync(&mut self.service);
            steps.extend(self.second.sync(&mut self.service));
            if steps.is_empty() {
                return;
            }
        }
        panic!("two devices never come to rest");
    }

    pub(crate) fn transfers(&self) -> u32 {
        self.first.transfers + self.second.transfers
    }
}

/// Changes on both devices; both end equal. Returns the pair for further checks.
pub(crate) fn meet(base: &str, first: &str, second: &str) -> Pair {
    let mut pair = Pair::with(base);
    pair.first.user(first);
    pair.second.user(second);
    pair.sync();
    pair.first.assert_equal_to(&pair.service);
    pair.second.assert_equal_to(&pair.service);
    assert_eq!(pair.first.paths(), pair.second.paths());
    pair
}

/// Fails unless the files (and empty folders) are the wanted ones; order does not matter.
pub(crate) fn check(device: &Device, want: &str) {
    let mut want: Vec<&str> = want.split_whitespace().collect();
    want.sort_unstable();
    assert_eq!(show(device), want);
}

/// All files as `path=bytes` and all empty folders as `path/`; a conflict copy of x as `CC(x)`.
pub(crate) fn show(device: &Device) -> Vec<String> {
    let paths = device.paths();
    let mut shown: Vec<String> = paths
        .iter()
        .filter_map(|(path, bytes)| {
            let short: Vec<String> = path.split('/').map(short_name).collect();
            let short = short.join("/");
            match bytes {
                Some(bytes) => Some(format!("{short}={bytes}")),
                None => {
                    let inside = format!("{path}/");
                    let empty = !paths.keys().any(|p| p.starts_with(&inside));
                    empty.then(|| format!("{short}/"))
                }
            }
        })
        .collect();
    shown.sort();
    shown
}

fn short_name(text: &str) -> String {
    let name = Name::new(text).unwrap();
    if !name.is_conflict_copy() {
        return text.to_owned();
    }
    let (stem, extension) = name.split_extension();
    let end = stem.find(" (conflicted copy ").unwrap();
    format!("CC({}{extension})", &stem[..end])
}

/// Runs one device after a change of its own.
pub(crate) fn run_alone(base: &str, script: &str) -> (Pair, Vec<Step>) {
    let mut pair = Pair::with(base);
    pair.first.user(script);
    let steps = pair.first.plan(&pair.service).steps;
    pair.sync();
    pair.first.assert_equal_to(&pair.service);
    pair.second.assert_equal_to(&pair.service);
    (pair, steps)
}

/// Named rows: base, what the first does, what the second does, what both have in the end; after
/// `swapped`, what they have if the roles are swapped.
macro_rules! rows {
    ($($name:ident: $base:literal, $a:literal, $b:literal => $want:literal $(, swapped $swapped:literal)? $(, transfers $t:literal)?;)+) => {
        $(
            #[test]
            fn $name() {
                let pair = crate::scenario::meet($base, $a, $b);
                crate::scenario::check(&pair.first, $want);
                $(assert_eq!(pair.transfers(), $t, "transfers");)?
                $(
                    let pair = crate::scenario::meet($base, $b, $a);
                    crate::scenario::check(&pair.first, $swapped);
                )?
            }
        )+
    };
}
pub(crate) use rows;
