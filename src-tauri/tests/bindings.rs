//! The window's TypeScript is generated from the table of calls and the types that they name.
//!
//! Run with `CAIRN_UPDATE_GENERATED=1` to write `ui/src/bindings.ts` anew after a change.

use cairn_model::EventKind;
use cairn_tray::commands::{Signature, signatures, visit_types};
use cairn_tray::file_request::FileDialog;
use cairn_tray::program::ProgramError;
use cairn_tray::window::{COMMAND, EVENT, Page, WindowEvent};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

const HEAD: &str = "// Generated from src-tauri by its test `bindings`. Do not edit.
//
// After a change of the Rust side: CAIRN_UPDATE_GENERATED=1 cargo nextest run -p cairn-tray --test bindings
";

/// Collects the declarations of our own types, and of those that they name.
struct Declarations<'a> {
    config: &'a Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types of the standard library have no file of their own: only what they hold is declared.
        if T::output_path().is_some() {
            let name = T::ident(self.config);
            if self.found.contains_key(&name) {
                return;
            }
            self.found.insert(name, T::decl(self.config));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

fn snake_case(name: &str) -> String {
    name.chars()
        .enumerate()
        .fold(String::new(), |mut out, (at, letter)| {
            if at > 0 && letter.is_uppercase() {
                out.push('_');
            }
            out.extend(letter.to_lowercase());
            out
        })
}

fn camel_case(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}

/// `limit: number, path: string`.
fn parameters(signature: &Signature) -> String {
    let parameters = signature.arguments.iter();
    let parameters = parameters.map(|(name, ty)| format!("{name}: {ty}"));
    parameters.collect::<Vec<_>>().join(", ")
}

/// Declares a list of all values of an enum.
fn values(name: &str, ty: &str, values: &[impl Display], out: &mut String) -> std::fmt::Result {
    let values: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
    let values = values.join(", ");
    writeln!(out, "\nexport const {name}: {ty}[] = [{values}];")
}

/// Returns the pages by the names in their addresses.
fn pages() -> Vec<&'static str> {
    Page::ALL.iter().map(|page| page.name()).collect()
}

/// Returns the dialogs about a file by the names in the page's address.
fn dialogs() -> Vec<&'static str> {
    FileDialog::ALL.iter().map(|dialog| dialog.name()).collect()
}

fn calls(signatures: &[Signature], out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "\n/** The arguments and the reply of each call. */\nexport type Calls = {{"
    )?;
    for signature in signatures {
        let (op, parameters) = (snake_case(signature.name), parameters(signature));
        let reply = &signature.reply;
        writeln!(
            out,
            "  {op}: {{ arguments: {{ {parameters} }}; reply: {reply} }};"
        )?;
    }
    writeln!(out, "}};\nexport type Op = keyof Calls;")?;
    writeln!(out, "/** A call as the program reads it. */")?;
    writeln!(
        out,
        "export type Call<O extends Op = Op> = {{ [K in O]: {{ op: K }} & Calls[K][\"arguments\"] }}[O];"
    )?;
    writeln!(
        out,
        "\n/** Returns the functions that make the calls. Every promise may fail with a `ProgramError`. */"
    )?;
    writeln!(
        out,
        "export function createApi(send: <O extends Op>(call: Call<O>) => Promise<Calls[O][\"reply\"]>) {{\n  return {{"
    )?;
    for signature in signatures {
        if !signature.doc.is_empty() {
            writeln!(out, "    /** {} */", signature.doc.trim())?;
        }
        let (name, op) = (camel_case(signature.name), snake_case(signature.name));
        let mut call = format!("op: \"{op}\"");
        for (argument, _) in &signature.arguments {
            write!(call, ", {argument}")?;
        }
        let parameters = parameters(signature);
        writeln!(
            out,
            "    {name}: ({parameters}) => send<\"{op}\">({{ {call} }}),"
        )?;
    }
    writeln!(out, "  }};\n}}")
}

fn bindings() -> Result<String, std::fmt::Error> {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations {
        config: &config,
        found: BTreeMap::new(),
    };
    visit_types(&mut declarations);
    declarations.visit::<WindowEvent>();
    declarations.visit::<ProgramError>();
    let mut out = HEAD.to_owned();
    for declaration in declarations.found.values() {
        write!(out, "\nexport {declaration}\n")?;
    }
    values("EVENT_KINDS", "EventKind", EventKind::ALL, &mut out)?;
    values("PAGES", "Page", &pages(), &mut out)?;
    values("FILE_DIALOGS", "FileDialog", &dialogs(), &mut out)?;
    write!(
        out,
        "\nexport const COMMAND = \"{COMMAND}\";\nexport const EVENT = \"{EVENT}\";\n"
    )?;
    calls(&signatures(&config), &mut out)?;
    Ok(out)
}

#[test]
fn the_bindings_of_the_window_are_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/bindings.ts");
    let generated = bindings().unwrap();
    if std::env::var_os("CAIRN_UPDATE_GENERATED").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == generated,
        "ui/src/bindings.ts is stale: run `CAIRN_UPDATE_GENERATED=1 cargo nextest run -p cairn-tray --test bindings`"
    );
}
