// Links as the share page opens them, and the frames that its decoder takes.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { pageModule } from "./page.mjs";
import { toHex } from "./bytes.mjs";

const { hash } = await pageModule("blake3.js");
const { decompress } = await pageModule("zstd.js");
const page = await pageModule("link.js");
const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

function opensTo({ bytes, length }) {
  try {
    return toHex(hash(decompress(page.fromHex(bytes), length).plain));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function listing(i) {
  const secret = page.parseSecret(i.fragment);
  const salt = Buffer.from(page.fromHex(i.kdf_salt)).toString("base64");
  const kdf = { iterations: i.kdf_iterations, salt };
  const key = i.password ? (await page.linkKeyWithPassword(secret, i.password, kdf)).key : await page.linkKey(secret);
  const file = await page.openFile(key, i.share, i.node, page.fromHex(i.listing));
  const plain = await page.openChunk(file.chunks[0], page.fromHex(i.sealed_chunk));
  return { path: file.path, size: file.size, chunks: file.chunks.length, plain: toHex(plain) };
}

/** Checks all; returns how many hold, and what is wrong with the others. */
export async function check() {
  const wrong = [];
  let checked = 0;
  for (const frame of read("zstd/frames.json")) {
    const got = opensTo(frame);
    if (got === frame.opens_to) checked++;
    else wrong.push(`frame ${frame.bytes.slice(0, 80)}… of ${frame.length}: ${got}, expected ${frame.opens_to}`);
  }
  const { base, cases } = read("crypto/listing.json");
  for (const one of cases) {
    let got = null;
    try {
      got = await listing({ ...base, ...one.set });
    } catch (error) {
      if (!(error instanceof page.NotGenuine)) throw error;
    }
    const expected = one.expect === "ok" ? one.output : null;
    if (isDeepStrictEqual(got, expected)) checked++;
    else wrong.push(`listing: ${one.name}: ${JSON.stringify(got)}`);
  }
  return { checked, wrong };
}
