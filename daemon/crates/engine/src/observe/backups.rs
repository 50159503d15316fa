//! The names that editors give to the former version of a file when they save it.

/// The endings that they add to a name.
const ENDINGS: &[&str] = &["~", ".bak", ".BAK", ".orig", ".old"];

/// Returns whether a name is that of a backup of another one.
pub(crate) fn is_backup_name(backup: &str, name: &str) -> bool {
    if let Some(added) = backup.strip_prefix(name) {
        return ENDINGS.contains(&added) || is_numbered(added);
    }
    backup
        .strip_prefix('#')
        .and_then(|rest| rest.strip_suffix('#'))
        == Some(name)
}

/// Returns whether this is the ending of a numbered backup: `.~1~`.
fn is_numbered(added: &str) -> bool {
    let number = added
        .strip_prefix(".~")
        .and_then(|rest| rest.strip_suffix('~'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_has_the_whole_name_and_an_ending_of_editors() {
        for backup in ["a.txt~", "a.txt.bak", "a.txt.orig", "#a.txt#", "a.txt.~12~"] {
            assert!(is_backup_name(backup, "a.txt"), "{backup}");
        }
        for other in [
            "a.txt", "a.bak", "b.txt~", "a.txt.1", "a.txt.~~", "a.txt2~", "#a.txt",
        ] {
            assert!(!is_backup_name(other, "a.txt"), "{other}");
        }
    }
}
