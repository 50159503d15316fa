//! The rules, checked on this workspace: one test each, so that a breach has the rule's name.

use cairn_tidy::{Rule, Workspace, rules};

fn check(rule: Rule) {
    let workspace = Workspace::load().expect("cargo and the sources can be read");
    assert!(workspace.rust().count() > 50, "the sources were found");
    if let Err(breaches) = rule.check(&workspace) {
        panic!("{breaches}");
    }
}

macro_rules! house {
    ($($test:ident: $rule:ident),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                check(rules::$rule);
            }
        )*

        #[test]
        fn every_rule_is_checked() {
            let checked = [$(rules::$rule.says),*];
            for rule in rules::ALL {
                assert!(checked.contains(&rule.says), "{}", rule.says);
            }
            assert_eq!(checked.len(), rules::ALL.len());
        }
    };
}

house! {
    packages_import_only_what_they_may: ARROWS,
    tests_import_nothing_above_their_package: TEST_ARROWS,
    big_dependencies_have_one_owner: OWNERS,
    files_stay_short: SIZE,
    no_module_is_a_mod_rs: NO_MOD_RS,
    names_say_something: NAMES,
    files_say_what_they_are_for: HEADERS,
    packages_take_the_lints: LINTS,
    systems_are_told_apart_in_platform_only: NO_MACHINE_CODE_OUTSIDE,
    unsafe_code_is_in_platform_only: UNSAFE_AT_HOME,
    sql_is_at_home: SQL_AT_HOME,
    libraries_are_quiet: QUIET,
    the_planner_is_pure: PURE_PLAN,
    tests_do_not_sleep: CLOCKLESS_TESTS,
    no_machine_paths: NO_MACHINE_PATHS,
    nothing_is_left_for_later: NO_LEFTOVERS,
    links_lead_somewhere: LINKS,
}
