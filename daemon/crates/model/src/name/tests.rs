//! Names that can be synced, and those that can not.

use super::*;

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

#[test]
fn names_that_could_leave_the_folder_are_refused() {
    for bad in ["", ".", "..", "a/b", "/etc", "a\0b"] {
        assert!(Name::new(bad).is_err(), "{bad:?}");
    }
    assert_eq!(Name::new("x".repeat(256)), Err(InvalidName::TooLong(256)));
    assert!(Name::new("x".repeat(255)).is_ok());
}

#[test]
fn composed_and_decomposed_spellings_share_a_key() {
    assert_eq!(name("\u{e9}.txt").key(), name("e\u{301}.txt").key());
    assert_ne!(name("a").key(), name("A").key());
}

#[test]
fn a_conflict_copy_keeps_the_extension() {
    let copy = name("f.txt").conflict_copy("laptop", "2026-01-02 030405", 0);
    assert_eq!(
        copy.as_str(),
        "f (conflicted copy laptop 2026-01-02 030405).txt"
    );
    assert!(copy.is_conflict_copy());
    assert_eq!(copy.copied_from(), Some(name("f.txt")));
    assert_eq!(name("f (conflicted copy.txt").copied_from(), None);
    let second = name(".hidden").conflict_copy("a/b", "2026-01-02 030405", 1);
    assert_eq!(
        second.as_str(),
        ".hidden (conflicted copy a-b 2026-01-02 030405 2)"
    );
}

#[test]
fn a_conflict_copy_is_known_by_its_device_and_time() {
    for (original, device, stamp) in [
        ("f.txt", "my laptop.local", "2026-01-02 030405"),
        ("Makefile", "my laptop.local", "2026-01-02 030405"),
        ("a.b)c", "d (2)", "2026-01-02 030405"),
        (
            "f (conflicted copy e 2025-01-02 030405).txt",
            "d",
            "2026-01-02 030405",
        ),
        ("f", RESTORED, "a1b2"),
    ] {
        for attempt in [0, 1, 40] {
            let copy = name(original).conflict_copy(device, stamp, attempt);
            assert_eq!(copy.copied_from(), Some(name(original)), "{copy}");
            assert_eq!(copy.copied_by(), Some(device), "{copy}");
        }
    }
    for other in [
        "f (conflicted copy 2026-01-02 030405).txt",
        "f (conflicted copy of Ada).txt",
        "f (Ada's conflicted copy 2026-01-02).txt",
        "f (conflicted copy d 2026-01-02 030405) old.txt",
    ] {
        assert!(!name(other).is_conflict_copy(), "{other}");
    }
}

#[test]
fn a_conflict_copy_of_a_long_name_stays_a_name() {
    let long = name(&format!("{}.txt", "é".repeat(125)));
    let copy = long.conflict_copy("d", "2026-01-02 030405", 0);
    assert!(Name::new(copy.as_str()).is_ok());
    assert!(copy.as_str().ends_with(").txt"));
}

#[test]
fn a_name_without_the_mark_is_no_conflict_copy() {
    let stamp = "2026-01-02 030405";
    let once = name("f.txt").conflict_copy("laptop", stamp, 0);
    for (copy, plain) in [
        (once.clone(), "f (laptop 2026-01-02 030405).txt"),
        (
            once.conflict_copy("desktop", stamp, 1),
            "f (laptop 2026-01-02 030405) (desktop 2026-01-02 030405 2).txt",
        ),
        (
            name("f").conflict_copy("conflicted copy", stamp, 0),
            "f (conflicted copy 2026-01-02 030405)",
        ),
        (
            name("f").conflict_copy(RESTORED, "a1", 0),
            "f (restored a1)",
        ),
        (name("f (conflicted copy).txt"), "f (conflicted copy).txt"),
    ] {
        let stripped = copy.without_copy_mark();
        assert_eq!(stripped.as_str(), plain);
        assert!(!stripped.is_conflict_copy(), "{stripped}");
    }
}

#[test]
fn a_numbered_name_stays_a_name() {
    assert_eq!(name("a.txt").with_number(2).as_str(), "a (2).txt");
    let long = name(&"é".repeat(127)).with_number(12);
    assert!(Name::new(long.as_str()).is_ok(), "{long}");
    assert!(long.as_str().ends_with("é (12)"));
}

#[test]
fn a_conflict_copy_with_a_long_device_and_extension_stays_a_name() {
    let long = name(&format!("{}.{}", "s".repeat(150), "e".repeat(63)));
    let device = "\u{1f9ed}".repeat(40);
    let copy = long.conflict_copy(&device, "2026-01-02 030405", 4_000_000_000);
    assert!(Name::new(copy.as_str()).is_ok(), "{copy}");
    assert!(copy.is_conflict_copy());
    assert!(copy.as_str().ends_with("eee"));
}

#[test]
fn a_search_compares_letters_in_either_case_and_however_they_are_composed() {
    for (one, other) in [
        ("\u{dc}bersicht", "u\u{308}BERSICHT"),
        ("stra\u{df}e", "STRASSE"),
        ("\u{3bb}\u{3bf}\u{3c2}", "\u{39b}\u{39f}\u{3a3}"),
        ("A-1.TXT", "a-1.txt"),
    ] {
        assert_eq!(search_key(one), search_key(other));
    }
    assert_ne!(search_key("\u{fc}ber"), search_key("uber"));
}
