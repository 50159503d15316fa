// Opening what a link carries: its key from the secret (and a password), listings, chunks.
//
// The formats are those of the client; tests hold both to the same vectors.

import { hash } from "./blake3.js";
import { decompress } from "./zstd.js";

const FORMAT = 2, TAG = 16, SALT = 32, MAX_CHUNK = 4 * 1024 * 1024, MAX_PATH = 4096;
// The number of every listing, until a log counts them.
const LISTING = 1;
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

// Each key opens one thing: the nonce is always zero.
async function open(key, associated, sealed) {
  if (sealed.length < TAG) throw new NotGenuine();
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
  const how = { name: "AES-GCM", iv: new Uint8Array(12), additionalData: associated };
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

function u64(value) {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(value));
  return out;
}

/** Opens the listing of one file of a link: its path, size, and the keys of its chunks. */
export async function openFile(key, shareId, nodeId, sealed) {
  const commitment = await derive(key, bound("cairn/2/commit", id(shareId)));
  if (toHex(sealed.subarray(0, 32)) !== toHex(commitment)) throw new NotGenuine();
  const salt = sealed.subarray(32, 32 + SALT);
  const own = await derive(key, bound("cairn/2/listing", salt));
  const associated = bound("cairn/2/listing", id(shareId), id(nodeId), u64(LISTING));
  const plain = await open(own, associated, sealed.subarray(32 + SALT));
  return readListing(nodeId, plain);
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  take(length) {
    if (length > this.bytes.length - this.at) throw new NotGenuine();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  // Seven bits a byte, the lowest first, in the shortest form.
  number() {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.take(1)[0];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if ((byte === 0 && factor > 1) || value > Number.MAX_SAFE_INTEGER) throw new NotGenuine();
        return value;
      }
    }
    throw new NotGenuine();
  }
}

function readPath(bytes) {
  let path;
  try {
    path = text.decode(bytes);
  } catch {
    throw new NotGenuine();
  }
  const isSafe = (name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0");
  if (bytes.length > MAX_PATH || !path.split("/").every(isSafe)) throw new NotGenuine();
  return path;
}

function readListing(node, plain) {
  const reader = new Reader(plain);
  const space = reader.take(16);
  const path = readPath(reader.take(reader.number()));
  const size = reader.number();
  // The whole file's hash: those of the chunks below already say the same.
  reader.take(32);
  const count = reader.number(), chunks = [];
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (reader.take(1)[0] !== 0x63) throw new NotGenuine();
    const chunk = { space, node: reader.take(16), epoch: reader.number(), id: toHex(reader.take(32)) };
    chunk.key = reader.take(32);
    chunk.length = reader.number();
    chunk.hash = toHex(reader.take(32));
    if (chunk.length > MAX_CHUNK || (chunk.length === 0 && size > 0)) throw new NotGenuine();
    total += chunk.length;
    chunks.push(chunk);
  }
  const isWhole = reader.at === plain.length && total === size && count > 0 && (size > 0 || count === 1);
  if (!isWhole) throw new NotGenuine();
  return { node, path, size, chunks, name: path.split("/").at(-1) };
}

/** Opens one chunk and checks that it is the one of the listing. */
export async function openChunk(chunk, sealed) {
  if (sealed[0] !== FORMAT) throw new NotGenuine();
  const object = fromHex(chunk.id);
  const about = bound("cairn/2/object", utf8.encode("c"), chunk.space, u64(chunk.epoch), chunk.node, object);
  const padded = await open(chunk.key, about, sealed.subarray(1));
  const plain = plainOf(padded, chunk.length);
  if (toHex(hash(plain)) !== chunk.hash) throw new NotGenuine();
  return plain;
}

// A codec, the payload, zeros.
function plainOf(padded, length) {
  if (padded[0] === 0 && padded.length > length) {
    checkPadding(padded, length);
    return padded.subarray(1, 1 + length);
  }
  if (padded[0] !== 1) throw new NotGenuine();
  let opened;
  try {
    opened = decompress(padded.subarray(1), length);
  } catch {
    throw new NotGenuine();
  }
  checkPadding(padded, opened.end);
  return opened.plain;
}

function checkPadding(padded, payload) {
  const isPadded = padded.length === padme(1 + payload);
  if (!isPadded || padded.subarray(1 + payload).some((byte) => byte !== 0)) throw new NotGenuine();
}

// The length to which another is rounded up, so that it says less (Padmé).
function padme(length) {
  if (length <= 2) return length;
  const exponent = 31 - Math.clz32(length), free = Math.max(0, exponent - (32 - Math.clz32(exponent)));
  return Math.ceil(length / 2 ** free) * 2 ** free;
}
