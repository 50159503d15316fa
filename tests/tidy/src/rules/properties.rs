//! The number of cases of property tests.

use crate::{Rule, SourceFile, Violation};

/// The variable that proptest reads; a number in the source overrides it.
const VARIABLE: &str = "PROPTEST_CASES";

pub const PROPERTY_CASES: Rule = Rule {
    name: "property-cases",
    rule: "a property test with a number of cases of its own looks at PROPTEST_CASES first",
    rationale: "`cargo xtask fuzz` sets the variable; a test that overrides it runs no more often than in CI",
    find: |workspace| {
        let tests = workspace
            .rust_files()
            .filter(|f| !f.is_in(&["tests/tidy/"]));
        tests
            .filter(|file| !file.text.contains(VARIABLE))
            .flat_map(fixed_numbers)
            .collect()
    },
};

fn fixed_numbers(file: &SourceFile) -> Vec<Violation> {
    if !file.text.contains("ProptestConfig") {
        return Vec::new();
    }
    let lines = file.text.lines().zip(1..);
    lines
        .filter(|(text, _)| text.contains("cases:") || text.contains("with_cases("))
        .map(|(_, line)| Violation::in_line(&file.path, line, "fixes the number of cases"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    fn is_broken(text: &str) -> bool {
        let workspace = Workspace {
            files: vec![SourceFile::new("daemon/crates/plan/tests/a.rs", text)],
            ..Workspace::default()
        };
        PROPERTY_CASES.check(&workspace).is_err()
    }

    #[test]
    fn a_number_that_overrides_the_variable_is_a_violation() {
        let fixed = "#![proptest_config(ProptestConfig { cases: 64, ..default })]\n";
        assert!(is_broken(fixed));
        assert!(is_broken(
            "#![proptest_config(ProptestConfig::with_cases(9))]\n"
        ));
        let asks = "fn config() { std::env::var_os(\"PROPTEST_CASES\") }\n";
        assert!(!is_broken(&format!("{asks}{fixed}")));
        assert!(!is_broken("proptest! {}\nfn f(cases: u32) {}\n"));
    }
}
