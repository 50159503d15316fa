//! Skills: instructions for tasks of several calls, which assistants' programs read from a folder when they need them.

/// A skill: the name of its folder, and the text of `SKILL.md` in it.
pub type Skill = (&'static str, &'static str);

/// All skills.
pub const SKILLS: [Skill; 4] = [
    (
        "find-and-bring-back",
        include_str!("../skills/find-and-bring-back/SKILL.md"),
    ),
    (
        "share-safely",
        include_str!("../skills/share-safely/SKILL.md"),
    ),
    ("tidy-up", include_str!("../skills/tidy-up/SKILL.md")),
    (
        "what-changed",
        include_str!("../skills/what-changed/SKILL.md"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    /// The longest description that programs take.
    const MOST: usize = 1_024;

    fn tools() -> impl Iterator<Item = &'static Tool> {
        crate::toolset::ALL.iter().flat_map(|set| set.tools)
    }

    #[test]
    fn skills_have_the_head_that_programs_look_for() {
        for (name, text) in SKILLS {
            let (head, _) = text
                .strip_prefix("---\n")
                .and_then(|text| text.split_once("\n---\n"))
                .expect("a head between two lines of dashes");
            let fields: Vec<_> = head.lines().filter_map(|l| l.split_once(": ")).collect();
            assert_eq!(fields[0], ("name", name));
            let (field, description) = fields[1];
            assert_eq!((field, fields.len()), ("description", 2), "{name}");
            assert!((100..MOST).contains(&description.len()), "{name}");
            // A colon and a blank would begin a mapping.
            assert!(!description.contains(": "), "{name}");
        }
    }

    #[test]
    fn skills_name_tools_and_arguments_that_exist() {
        for (skill, text) in SKILLS {
            let words = text.split('`').skip(1).step_by(2);
            let names = words.filter(|word| word.contains('_'));
            for name in names {
                let is_tool = tools().any(|tool| tool.name == name);
                let is_argument = tools().any(|tool| tool.param(name).is_some());
                assert!(is_tool || is_argument, "{skill}: {name}");
            }
        }
    }
}
