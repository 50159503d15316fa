// The protocol's published JSON schemas, by revision, taken out of the conformance suite:
//
//     node schemas.mjs SUITE/dist/index.js > schemas.json
//
// No package has them as files; this suite checks what it sees with them, and they stand in its one file
// as object literals. They are evaluated as data. Where the suite's text isn't what is expected here, this
// ends with an error: the suite is pinned, so that only happens to whoever changes the pin.

import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const NAME = "([\\w$]+)";

const source = readFileSync(process.argv[2], "utf8");

/** The object literal that begins at `start`; braces in strings don't count. */
function literal(start) {
  const token = /[{}]|(["'`])(?:\\.|(?!\1)[^\\])*\1/gs;
  token.lastIndex = start;
  let depth = 0;
  for (let found = token.exec(source); found; found = token.exec(source)) {
    if (found[0] === "{") depth += 1;
    if (found[0] === "}") depth -= 1;
    if (depth === 0) return source.slice(start, token.lastIndex);
  }
  throw new Error(`the literal at ${start} has no end`);
}

// The suite's own table: revision to schema, the last one under a constant.
const [first, second, third] = REVISIONS;
const table = `\\{"${first}":${NAME},"${second}":${NAME},"${third}":${NAME},\\[[\\w$]+\\]:${NAME}\\}`;
const names = source.match(new RegExp(table))?.slice(1);
if (!names) throw new Error("the suite has no table of schemas");

const schemas = REVISIONS.map((revision, at) => {
  const start = source.indexOf(`${names[at]}={$schema:`);
  if (start < 0) throw new Error(`the suite has no schema of ${revision}`);
  const schema = runInNewContext(`(${literal(start + names[at].length + 1)})`);
  const definitions = schema.$defs ?? schema.definitions;
  if (!definitions?.JSONRPCMessage) throw new Error(`the schema of ${revision} is none`);
  return [revision, schema];
});
console.log(JSON.stringify(Object.fromEntries(schemas)));
