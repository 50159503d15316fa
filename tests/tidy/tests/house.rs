//! The rules, checked on this workspace: one test each, so that a violation shows the rule's name.

use cairn_tidy::{Rule, Workspace, rules};

fn check(rule: Rule) {
    let workspace = Workspace::load().expect("cargo and the sources can be read");
    assert!(
        workspace.rust_files().count() > 50,
        "the sources were found"
    );
    if let Err(violations) = rule.check(&workspace) {
        panic!("{violations}");
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
            let checked = [$(rules::$rule.name),*];
            for rule in rules::ALL {
                assert!(checked.contains(&rule.name), "{}", rule.name);
            }
            assert_eq!(checked.len(), rules::ALL.len());
        }
    };
}

house! {
    packages_import_only_what_they_may: ARROWS,
    tests_import_nothing_above_their_package: TEST_ARROWS,
    big_dependencies_have_one_owner: OWNERS,
    files_import_one_another_in_small_circles: CIRCLES,
    files_stay_short: SIZE,
    functions_fit_a_screen: FUNCTIONS,
    functions_are_not_named_by_a_state: FUNCTION_NAMES,
    no_module_is_a_mod_rs: NO_MOD_RS,
    names_say_something: NAMES,
    files_say_what_they_are_for: HEADERS,
    doc_comments_begin_with_a_verb_or_a_noun: DOC_OPENINGS,
    identifiers_use_the_words_of_the_glossary: WORDS,
    packages_take_the_lints: LINTS,
    systems_differ_in_platform_only: NO_MACHINE_CODE_OUTSIDE,
    unsafe_code_is_in_platform_only: UNSAFE_AT_HOME,
    sql_is_at_home: SQL_AT_HOME,
    libraries_are_quiet: QUIET,
    the_planner_is_pure: PURE_PLAN,
    tests_do_not_sleep: CLOCKLESS_TESTS,
    property_tests_can_be_repeated_more_often: PROPERTY_CASES,
    no_machine_paths: NO_MACHINE_PATHS,
    nothing_is_left_for_later: NO_LEFTOVERS,
    doc_comments_have_no_examples: NO_EXAMPLES,
    links_lead_somewhere: LINKS,
    every_page_is_in_the_contents: CONTENTS,
    scenarios_resolve: SCENARIOS,
}

#[test]
fn every_exception_is_needed() {
    let workspace = Workspace::load().expect("cargo and the sources can be read");
    let unused = workspace.exceptions.find_unused(&rules::ALL, &workspace);
    assert!(unused.is_empty(), "no longer needed: {unused:#?}");
}
