//! `cairn completions`: scripts that let a shell complete commands, options, paths and names.
//!
//! The library's scripts know commands and options. The scripts of bash, zsh and fish ask `cairn complete` for
//! paths, teams, devices and links, which only the account or the disk knows.

use crate::app::App;
use crate::cli::Cli;
use crate::failure::CommandResult;
use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

/// Names are quoted: whoever may name a file in a team must not write on somebody's command line. Those with a colon
/// or an equals sign are left out, because bash splits words there.
const BASH: &str = r#"
_cairn_with_names() {
    COMPREPLY=()
    local word
    local -a words
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        word=${word#[\"\']}
        words+=("${word//\\/}")
    done
    while IFS= read -r word; do
        [[ $word == *[:=]* ]] || COMPREPLY+=("$(printf '%q' "$word")")
    done < <(command cairn complete -- "${words[@]}" 2>/dev/null)
    if (( ${#COMPREPLY[@]} == 0 )); then
        _cairn "$@"
    elif (( ${#COMPREPLY[@]} == 1 )) && [[ ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace
    fi
}
complete -F _cairn_with_names -o nosort -o bashdefault -o default cairn
"#;

/// Has the name of the library's function, which calls itself by it from its second call on.
const ZSH: &str = r#"
_cairn() {
    local -a found
    found=("${(@f)$(command cairn complete -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    if (( $#found )); then
        compadd -S '' -- "${found[@]}"
    else
        _cairn_static "$@"
    fi
}
"#;

/// The end of the library's script.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\" = \"_cairn\" ]; then";

const FISH: &str = r#"
function __fish_cairn_names
    command cairn complete -- (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c cairn -a "(__fish_cairn_names)"
"#;

/// Print a script for your shell's completion
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(app: &App, args: Args) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cairn", &mut script);
    let script = with_names(args.shell, &String::from_utf8_lossy(&script));
    if app.out.json {
        let shell = args.shell.to_string();
        app.out.json(&json!({ "shell": shell, "script": script }));
    } else {
        app.out.raw(&script);
    }
    Ok(())
}

/// Returns a script that also asks for names.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => match script.rsplit_once(ZSH_END) {
            Some((functions, end)) => {
                let functions = functions.replace("\n_cairn() {", "\n_cairn_static() {");
                format!("{functions}\n{ZSH}{ZSH_END}{end}")
            }
            None => script.to_owned(),
        },
        Shell::Elvish | Shell::PowerShell | _ => script.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(shell: Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "cairn", &mut script);
        with_names(shell, &String::from_utf8(script).unwrap())
    }

    #[test]
    fn the_functions_that_ask_for_names_are_the_ones_that_complete() {
        let bash = script(Shell::Bash);
        let (_, last) = bash.rsplit_once("complete -F ").unwrap();
        assert!(last.starts_with("_cairn_with_names "), "{last}");
        let zsh = script(Shell::Zsh);
        let (_, end) = zsh.rsplit_once("\n_cairn() {").unwrap();
        assert!(
            end.contains("    _cairn_static \"$@\"") && end.contains(ZSH_END),
            "{end}"
        );
        assert_eq!(zsh.matches("\n_cairn_static() {").count(), 1);
        assert!(script(Shell::Fish).contains("complete -c cairn -a \"(__fish_cairn_names)\""));
    }
}
