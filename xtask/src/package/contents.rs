//! The contents of each package, and what it says of itself.

/// One Debian package.
pub(super) struct Package {
    pub(super) name: &'static str,
    /// The one program, in `usr/bin`, named as the crate that makes it.
    pub(super) program: &'static str,
    /// Files of the workspace, and where they go.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Scripts that the package manager runs, of the workspace, and their names.
    pub(super) scripts: &'static [(&'static str, &'static str)],
    /// Files that keep what an administrator writes into them.
    pub(super) conffiles: &'static [&'static str],
    /// More fields of the control file; `VERSION` stands for the version.
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// The first line is the summary.
    pub(super) description: &'static [&'static str],
    /// The program prints completions and manual pages.
    pub(super) has_manual: bool,
    /// The package has the program's icons.
    pub(super) has_icons: bool,
    /// The page of the window is in the program.
    pub(super) has_page: bool,
}

/// A shell, and where its completions lie.
pub(super) const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/cairn"),
    ("zsh", "usr/share/zsh/vendor-completions/_cairn"),
    ("fish", "usr/share/fish/vendor_completions.d/cairn.fish"),
];

/// The files of the window's package: its entry in the menu, and what file managers load.
const TRAY_FILES: [(&str, &str); 11] = [
    (
        "packaging/cairn-tray.desktop",
        "usr/share/applications/cairn-tray.desktop",
    ),
    (
        "packaging/file-managers/cairn_daemon.py",
        "usr/share/cairn/file-managers/cairn_daemon.py",
    ),
    (
        "packaging/file-managers/cairn_extension.py",
        "usr/share/cairn/file-managers/cairn_extension.py",
    ),
    (
        "packaging/file-managers/nautilus.py",
        "usr/share/nautilus-python/extensions/cairn.py",
    ),
    (
        "packaging/file-managers/nemo.py",
        "usr/share/nemo-python/extensions/cairn.py",
    ),
    (
        "packaging/file-managers/caja.py",
        "usr/share/caja-python/extensions/cairn.py",
    ),
    (
        "packaging/file-managers/thunar.py",
        "usr/share/thunarx-python/extensions/cairn.py",
    ),
    (
        "packaging/file-managers/cairn.desktop",
        "usr/share/kio/servicemenus/cairn.desktop",
    ),
    (
        "packaging/file-managers/emblems/emblem-cairn-synced.svg",
        "usr/share/icons/hicolor/scalable/emblems/emblem-cairn-synced.svg",
    ),
    (
        "packaging/file-managers/emblems/emblem-cairn-waiting.svg",
        "usr/share/icons/hicolor/scalable/emblems/emblem-cairn-waiting.svg",
    ),
    (
        "packaging/file-managers/emblems/emblem-cairn-attention.svg",
        "usr/share/icons/hicolor/scalable/emblems/emblem-cairn-attention.svg",
    ),
];

pub(super) const ICONS: [u32; 6] = [32, 48, 64, 128, 256, 512];

/// The legal files, in the documentation of every package.
pub(super) const LEGAL: [(&str, &str); 3] = [
    ("packaging/deb/copyright", "copyright"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
];

/// The name of an SBOM, in the documentation of its package.
pub(super) const SBOM_NAME: &str = "sbom.cdx.json";

pub(super) const PACKAGES: [Package; 3] = [
    Package {
        name: "cairn",
        program: "cairn",
        files: &[(
            "packaging/cairn.service",
            "usr/lib/systemd/user/cairn.service",
        )],
        scripts: &[],
        conffiles: &[],
        fields: &[
            ("Depends", "libc6 (>= 2.36), ca-certificates"),
            ("Recommends", "gnome-keyring | kwalletmanager, tzdata"),
            ("Suggests", "cairn-tray"),
            ("Section", "net"),
        ],
        description: &[
            "end-to-end encrypted folder sync",
            "Cairn keeps folders in sync with an encrypted storage service. Files are",
            "encrypted on this device; the service never sees keys or contents.",
            "",
            "This package has the daemon and the command line; it needs no desktop.",
        ],
        has_manual: true,
        has_icons: false,
        has_page: false,
    },
    Package {
        name: "cairn-tray",
        program: "cairn-tray",
        files: &TRAY_FILES,
        scripts: &[],
        conffiles: &[],
        fields: &[
            (
                "Depends",
                "cairn (= VERSION), libc6 (>= 2.36), libgtk-3-0 | libgtk-3-0t64, \
                 libwebkit2gtk-4.1-0, libayatana-appindicator3-1",
            ),
            (
                "Suggests",
                "python3-nautilus, nemo-python, python3-caja, thunarx-python",
            ),
            ("Section", "net"),
        ],
        description: &[
            "tray and window of Cairn, end-to-end encrypted folder sync",
            "Shows what the daemon of Cairn does, and sets it up: an icon in the tray and",
            "a window. Nautilus, Nemo and Caja show the sync state of files as emblems, if",
            "they can load extensions in Python.",
        ],
        has_manual: false,
        has_icons: true,
        has_page: true,
    },
    Package {
        name: "cairn-server",
        program: "cairn-server",
        files: &[
            (
                "packaging/cairn-server.service",
                "usr/lib/systemd/system/cairn-server.service",
            ),
            (
                "packaging/cairn-server.toml",
                "etc/cairn-server/config.toml",
            ),
            (
                "packaging/grafana/cairn-server.json",
                "usr/share/doc/cairn-server/grafana-dashboard.json",
            ),
        ],
        scripts: &[
            ("packaging/deb/server/postinst", "postinst"),
            ("packaging/deb/server/prerm", "prerm"),
            ("packaging/deb/server/postrm", "postrm"),
        ],
        conffiles: &["/etc/cairn-server/config.toml"],
        fields: &[
            ("Depends", "libc6 (>= 2.36), adduser, ca-certificates"),
            ("Section", "net"),
        ],
        description: &[
            "storage server of Cairn, end-to-end encrypted folder sync",
            "Stores the sealed contents of Cairn's devices: accounts, spaces, revisions,",
            "share links, teams and webhooks, over a REST API. It never has a key of a",
            "client. Data is kept in /var/lib/cairn-server.",
        ],
        has_manual: false,
        has_icons: false,
        has_page: false,
    },
];
