//! The text of a problem in a notification, in the person's language. The window says problems with the same texts
//! (`ui/src/views/problem.ts`).

use crate::strings::{Language, fill};
use crate::view::ProblemView;
use cairn_model::ProblemCause;

/// Says what doesn't sync and what to do; in the daemon's words, which are English, where there are no others.
#[must_use]
pub(crate) fn problem_text(problem: &ProblemView, language: Language) -> String {
    let text = known_text(problem, language);
    text.unwrap_or_else(|| format!("{}. {}", problem.message, problem.hint))
}

fn known_text(problem: &ProblemView, language: Language) -> Option<String> {
    // The daemon of an earlier version gives no cause; each code is also the general cause of its kind.
    let cause = if problem.cause == ProblemCause::Other {
        problem.code.as_str()
    } else {
        problem.cause.as_str()
    };
    if cause == ProblemCause::Other.as_str() {
        return None;
    }
    let form = if problem.count == 1 { "one" } else { "other" };
    let key = format!("problem.{cause}");
    let text = language
        .find(&key)
        .or_else(|| language.find(&format!("{key}.{form}")))?;
    let hint = language.find(&format!("{key}.hint")).unwrap_or_default();
    let (values, number) = (&problem.values, language.number(problem.count));
    let slots = [
        ("n", Some(&number)),
        ("name", values.name.as_ref()),
        ("team", values.team.as_ref()),
        ("who", values.who.as_ref()),
        ("fingerprint", values.fingerprint.as_ref()),
        ("command", values.command.as_ref()),
        ("at", values.at.as_ref()),
    ];
    let given = slots.into_iter();
    let given: Vec<_> = given
        .filter_map(|(slot, value)| Some((slot, value?.as_str())))
        .collect();
    // Not without a value that the text needs.
    fill(&format!("{text} {hint}"), &given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{ProblemCode, ProblemValues};

    fn problem(cause: ProblemCause, count: u64) -> ProblemView {
        ProblemView {
            code: cause.code(),
            count,
            cause,
            values: ProblemValues::default(),
            bytes: 0,
            message: "it failed".into(),
            hint: "mend it".into(),
            examples: Vec::new(),
        }
    }

    #[test]
    fn a_problem_is_described_in_the_language_with_its_number() {
        let many = problem(ProblemCause::TooLarge, 1_200);
        let text = problem_text(&many, Language::De);
        assert!(text.starts_with("1.200 Dateien sind zu groß"), "{text}");
        assert!(text.contains("Lass es durch eine Regel weg"), "{text}");
        let older = ProblemView {
            cause: ProblemCause::Other,
            ..many
        };
        assert_eq!(problem_text(&older, Language::De), text, "by its code");
    }

    #[test]
    fn the_daemon_s_words_stand_where_a_value_or_the_cause_is_missing() {
        let mut team = problem(ProblemCause::NotAMember, 1);
        assert_eq!(problem_text(&team, Language::En), "it failed. mend it");
        team.values.team = Some("{who} & co".into());
        let text = problem_text(&team, Language::En);
        assert!(text.contains("the team {who} & co any more"), "{text}");
        let newer = problem(ProblemCause::Other, 1);
        assert_eq!(newer.code, ProblemCode::Other);
        assert_eq!(problem_text(&newer, Language::De), "it failed. mend it");
    }

    #[test]
    fn each_cause_has_texts_in_both_languages() {
        for language in [Language::En, Language::De] {
            for cause in ProblemCause::ALL {
                let mut all = problem(*cause, 2);
                let value = || Some("x".to_owned());
                all.values = ProblemValues {
                    name: value(),
                    team: value(),
                    who: value(),
                    fingerprint: value(),
                    at: value(),
                    command: value(),
                    ..ProblemValues::default()
                };
                let is_known = *cause != ProblemCause::Other;
                assert_eq!(known_text(&all, language).is_some(), is_known, "{cause}");
            }
        }
    }
}
