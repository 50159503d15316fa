// Opening what a link carries: keys from the secret (and a password), sealed files, sealed chunks.
//
// The formats are those of the client; tests hold both to the same vectors.

import { keyedHash } from "./blake3.js";

const FORMAT = 1, NONCE = 12, TAG = 16, MAX_CHUNK = 4 * 1024 * 1024;
const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true });

/** Something did not open: altered, or for another link. Which check failed is not told. */
export class NotGenuine extends Error {
  constructor() {
    super("what the server sent does not belong to this link");
  }
}

export function fromHex(hex) {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new NotGenuine();
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromBase64(base64) {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

const id = (uuid) => fromHex(uuid.replaceAll("-", ""));

function join(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// A label and parts, each with its length in front.
function bound(label, ...parts) {
  const framed = [];
  for (const part of [utf8.encode(label), ...parts]) {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, part.length);
    framed.push(length, part);
  }
  return join(framed);
}

// The one block of HKDF-Expand with SHA-256 that makes a key.
async function derive(key, info) {
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", hmac, join([info, Uint8Array.of(1)])));
}

async function open(key, nonce, associated, sealed) {
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
  const how = { name: "AES-GCM", iv: nonce, additionalData: associated };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(how, aes, sealed));
  } catch {
    throw new NotGenuine();
  }
}

/** Reads the part of the address behind the #. */
export function parseSecret(fragment) {
  if (!/^[0-9a-f]{64}$/i.test(fragment) || /^0+$/.test(fragment)) return null;
  return fromHex(fragment);
}

/** The key of a link without a password. */
export function linkKey(secret) {
  return derive(secret, bound("cairn/link-key/1"));
}

/** The key of a link with a password, and the value that the server asks for at its gate. */
export async function linkKeyWithPassword(secret, password, kdf) {
  const salt = fromBase64(kdf.salt);
  if (kdf.iterations < 600_000 || kdf.iterations > 10_000_000 || salt.length !== 32 || salt.every((b) => b === 0)) {
    throw new NotGenuine();
  }
  const raw = await crypto.subtle.importKey("raw", utf8.encode(password.normalize("NFKC")), "PBKDF2", false, ["deriveBits"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations: kdf.iterations };
  const root = new Uint8Array(await crypto.subtle.deriveBits(how, raw, 256));
  const gate = await derive(root, bound("cairn/passphrase-auth/1"));
  const kek = await derive(root, bound("cairn/passphrase-kek/1"));
  const share = await derive(kek, bound("cairn/link-share/1"));
  const key = await derive(secret, bound("cairn/link-key-with-password/1", share));
  return { key, gate: toHex(gate) };
}

/** Opens one file of a link: its path, size, chunks and keys. */
export async function openFile(key, shareId, nodeId, sealed) {
  if (sealed[0] !== FORMAT) throw new NotGenuine();
  const associated = bound("cairn/link-file/1", id(shareId), id(nodeId));
  const plain = await open(key, sealed.subarray(1, 1 + NONCE), associated, sealed.subarray(1 + NONCE));
  try {
    return await readFile(nodeId, plain);
  } catch {
    throw new NotGenuine();
  }
}

async function readFile(node, plain) {
  const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength);
  let at = 0;
  const bytes = (length) => {
    if (at + length > plain.length) throw new NotGenuine();
    at += length;
    return plain.subarray(at - length, at);
  };
  const number = (size) => {
    bytes(size);
    return size === 4 ? view.getUint32(at - 4) : Number(view.getBigInt64(at - 8));
  };
  if (number(4) !== 1) throw new NotGenuine();
  const revision = toHex(bytes(16));
  const size = number(8);
  const modified = new Date(number(8));
  bytes(32); // The whole file's hash: the chunk ids below already say the same.
  const content = bytes(32).slice();
  const path = text.decode(bytes(number(4)));
  const count = number(4);
  if (plain.length - at !== count * 36) throw new NotGenuine();
  const chunks = [];
  let total = 0;
  for (let i = 0; i < count; i++) {
    const chunk = { id: toHex(bytes(32)), length: number(4) };
    if (chunk.length === 0 || chunk.length > MAX_CHUNK) throw new NotGenuine();
    total += chunk.length;
    chunks.push(chunk);
  }
  const names = path.split("/");
  const safe = names.every((name) => name !== "" && name !== "." && name !== ".." && !/[\\\0]/.test(name));
  if (total !== size || !safe || content.every((b) => b === 0)) throw new NotGenuine();
  return {
    node, revision, path, size, modified, chunks,
    name: names.at(-1),
    ids: await derive(content, bound("cairn/chunk-ids/1")),
    keys: await derive(content, bound("cairn/chunk-keys/1")),
  };
}

/** Opens one chunk of a file and checks that it is the one with its id. */
export async function openChunk(file, chunk, sealed) {
  if (sealed[0] !== FORMAT || sealed.length < 1 + TAG + chunk.length) throw new NotGenuine();
  const key = await derive(file.keys, bound("cairn/chunk-key/1", fromHex(chunk.id)));
  const padded = await open(key, new Uint8Array(NONCE), bound("cairn/chunk/1"), sealed.subarray(1));
  const plain = padded.subarray(0, chunk.length);
  // GCM does not commit to its key: only the id tells that this is the one plaintext.
  const genuine = toHex(keyedHash(file.ids, plain)) === chunk.id && padded.subarray(chunk.length).every((b) => b === 0);
  if (!genuine) throw new NotGenuine();
  return plain;
}
