// Checks the vectors of format 2 a second time, with code that shares nothing with the Rust crate:
// `node tests/vectors/javascript/format2.mjs`. BLAKE3, zstd and links are those of the share page. Argon2id and ML-KEM are its own, because the node that we build with has neither.

import { readFileSync, readdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as account from "./account.mjs";
import * as content from "./content.mjs";
import * as link from "./link.mjs";
import * as log from "./log.mjs";
import { NotGenuine, Unsupported } from "./bytes.mjs";

const folder = new URL("../format2/", import.meta.url);
const operations = { ...account.operations, ...content.operations, ...log.operations };
let checked = 0, skipped = 0;
const wrong = [];

for (const name of readdirSync(folder).sort()) {
  if (!name.endsWith(".json")) continue;
  const file = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  for (const one of file.cases) {
    const operation = operations[one.operation];
    if (operation === undefined) {
      skipped++;
      continue;
    }
    const [outcome, output] = await run(operation, { ...file.base, ...one.set });
    if (output === "skipped") {
      skipped++;
    } else if (outcome !== one.expect || !isDeepStrictEqual(output, one.output)) {
      wrong.push(`${name}: ${one.operation}: ${one.name}: ${outcome}, expected ${one.expect}\n  ${JSON.stringify(output)}`);
    } else {
      checked++;
    }
  }
}

async function run(operation, input) {
  try {
    return ["ok", await operation(input)];
  } catch (error) {
    if (error instanceof NotGenuine) return [error.class, undefined];
    if (error instanceof Unsupported) return ["unsupported_format", undefined];
    throw error;
  }
}

const ofLinks = await link.check();
checked += ofLinks.checked;
wrong.push(...ofLinks.wrong);

if (wrong.length > 0) console.error(wrong.join("\n"));
console.log(`${checked} vectors of format 2 hold in JavaScript, ${wrong.length} don't, ${skipped} are for Rust alone`);
if (wrong.length > 0 || checked < 1100) process.exit(1);
