// The modules of the share page, as a program that isn't a browser loads them.

import { readFileSync } from "node:fs";

const folder = new URL("../../../server/service/src/share_page/", import.meta.url);
const loaded = new Map();

// Browsers load them as modules by their type, Node.js by an address with one.
function address(name) {
  if (!loaded.has(name)) {
    const source = readFileSync(new URL(name, folder), "utf8");
    const whole = source.replace(/from "\.\/([a-z0-9]+\.js)"/g, (_, other) => `from "${address(other)}"`);
    loaded.set(name, `data:text/javascript;base64,${Buffer.from(whole).toString("base64")}`);
  }
  return loaded.get(name);
}

export const pageModule = (name) => import(address(name));
