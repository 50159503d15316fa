// Runs the conformance suite, with Node.js 20 as well as with later ones:
//
//     node conformance.mjs SUITE/dist/index.js server --url URL …
//
// The suite imports one function that Node.js has had since 22, for a command that isn't used here. This
// gives it a `fs` with that name in it, and changes nothing else.

import { register } from "node:module";
import { pathToFileURL } from "node:url";

const suite = pathToFileURL(process.argv[2]).href;
const fs = "export * from 'node:fs'; export const globSync = undefined;";
const hook = `export const resolve = (specifier, context, next) =>
  specifier === "fs" && context.parentURL === ${JSON.stringify(suite)}
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

// What is left is the suite's own command line.
process.argv.splice(1, 1);
await import(suite);
