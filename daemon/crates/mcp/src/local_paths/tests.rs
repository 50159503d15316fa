//! Paths inside and outside of the allowed folders.

use super::*;

fn paths(dir: &Path) -> LocalPaths {
    LocalPaths::new(vec![dir.to_owned()], vec![dir.join("home")])
}

fn refusal(paths: &LocalPaths, path: &Path) -> String {
    match paths.check(path) {
        Ok(allowed) => panic!("{} is allowed", allowed.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn system_directories_are_refused_however_they_are_written() {
    let everything = LocalPaths::new(vec![PathBuf::from("/etc"), PathBuf::from("/usr")], vec![]);
    for bad in [
        "/etc/passwd",
        "/etc",
        "/usr/local/x",
        "/bin/sh",
        "/sbin",
        "/var/log/x",
        "/proc/self/mem",
        "/sys/x",
        "/dev/null",
        "/tmp/../etc/x",
        "/tmp/nowhere/../../etc/x",
        "//etc//passwd",
        "/./etc/x",
    ] {
        let message = refusal(&everything, Path::new(bad));
        assert!(message.contains("system directory"), "{bad}: {message}");
    }
}

#[test]
fn only_allowed_folders_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let allowed = dir.path().join("allowed");
    std::fs::create_dir(&allowed).unwrap();
    let paths = paths(&allowed);
    for good in ["x", "etc/x", "a/b/c", "a/../b", ""] {
        let path = allowed.join(good);
        paths.check(&path).unwrap_or_else(|e| panic!("{good}: {e}"));
    }
    for bad in [dir.path().join("x"), allowed.join("../x"), "/opt/x".into()] {
        assert!(refusal(&paths, &bad).contains("--allow-dir"));
    }
    assert!(
        refusal(&LocalPaths::new(vec!["/".into()], vec![]), &allowed).contains("no local folder")
    );
}

#[test]
fn hidden_private_and_start_up_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("user");
    std::fs::create_dir(&user).unwrap();
    let paths = paths(&user);
    for (path, word) in [
        (".bashrc", "hidden"),
        (".ssh/id_rsa", "hidden"),
        ("project/.git/hooks/pre-commit", "hidden"),
        ("home/secrets.json", "belongs to Cairn"),
        ("Library/LaunchAgents/x.plist", "log-in"),
        ("Start Menu/Programs/Startup/x.bat", "log-in"),
        ("config/autostart/x.desktop", "log-in"),
        ("Documents/PowerShell/profile.ps1", "log-in"),
    ] {
        let message = refusal(&paths, &user.join(path));
        assert!(message.contains(word), "{path}: {message}");
    }
    // The allowed folder itself may be hidden.
    let named = LocalPaths::new(vec![user.join(".config/app")], vec![]);
    assert!(named.check(&user.join(".config/app/x")).is_ok());
}

#[test]
fn what_is_no_path_of_this_system_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    for bad in [
        "",
        "a\0b",
        "file:///tmp/x",
        "file:x",
        "https://example.com/x",
    ] {
        assert!(paths.check(Path::new(bad)).is_err(), "{bad}");
    }
    #[cfg(unix)]
    assert!(paths.check(Path::new("C:\\x")).is_err());
}

#[cfg(unix)]
#[test]
fn links_out_of_an_allowed_folder_are_seen_through() {
    let dir = tempfile::tempdir().unwrap();
    let allowed = dir.path().join("allowed");
    std::fs::create_dir(&allowed).unwrap();
    let paths = paths(&allowed);
    for (name, target) in [("system", Path::new("/etc")), ("outside", dir.path())] {
        let link = allowed.join(name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        assert!(paths.check(&link.join("passwd")).is_err());
        assert!(paths.check(&link.join("new/file")).is_err());
        assert!(paths.recheck(&link).is_err());
    }
}

#[cfg(unix)]
#[test]
fn roots_of_clients_are_file_addresses() {
    for (uri, path) in [
        ("file:///home/me/My%20Files", Some("/home/me/My Files")),
        ("file://localhost/x", Some("/x")),
        ("file:///100%", Some("/100%")),
        ("https://example.com/x", None),
        ("file://relative", None),
    ] {
        assert_eq!(from_file_uri(uri), path.map(PathBuf::from), "{uri}");
    }
}

#[test]
fn the_advice_for_hidden_paths_works() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("user");
    std::fs::create_dir_all(user.join(".hidden")).unwrap();
    for name in [".env", ".hidden/a"] {
        std::fs::write(user.join(name), "x").unwrap();
    }
    for hidden in [".env", ".new", ".hidden/.new"] {
        let message = refusal(&paths(&user), &user.join(hidden));
        assert!(message.contains("a hidden file"), "{message}");
        assert!(!message.contains("--allow-dir"), "{message}");
    }
    for below in [".hidden", ".hidden/a"] {
        let message = refusal(&paths(&user), &user.join(below));
        assert!(message.contains("--allow-dir"), "{message}");
        paths(&user.join(".hidden"))
            .check(&user.join(below))
            .unwrap();
    }
}
