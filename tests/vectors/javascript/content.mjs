// Objects, cuts, manifests, attributes, boxes and seals of format 2.

import { createCipheriv } from "node:crypto";
import {
  NotGenuine, Reader, Unsupported, fromHex, fromUuid, join, kdf, openGcm, padme, require, sealGcm, toHex, tuple, zeros,
} from "./bytes.mjs";
import { pageModule } from "./page.mjs";

export const blake3 = await pageModule("blake3.js");
const { decompress } = await pageModule("zstd.js");

const MAX_CHUNK = 1 << 22, MIN_CHUNK = 1 << 18, NORMAL_CHUNK = 1 << 20, ROWS_PER_PART = 16_384;

export async function spaceKeys(i) {
  const secret = fromHex(i.secret), space = fromUuid(i.space);
  require(secret.some((byte) => byte !== 0));
  return {
    check: await kdf(secret, "check", space, i.epoch),
    objects: await kdf(secret, "objects", space, i.epoch),
    boxes: await kdf(secret, "box", space, i.epoch),
  };
}

async function nodeKey(i) {
  const { objects } = await spaceKeys(i);
  return kdf(objects, "node", fromUuid(i.space), i.epoch, fromUuid(i.node));
}

const about = (i, t, id) => tuple("object", t, fromUuid(i.space), i.epoch, fromUuid(i.node), id);

async function seal(i, t, codec, payload) {
  const key = await nodeKey(i);
  const padded = zeros(padme(1 + payload.length));
  padded[0] = codec;
  padded.set(payload, 1);
  const id = blake3.keyedHash(await kdf(key, "id", t), padded);
  const sealed = await sealGcm(await kdf(key, "seal", t, id), about(i, t, id), padded);
  return { id: toHex(id), sealed: toHex(join([2], sealed)) };
}

async function open(i, t) {
  const sealed = fromHex(i.sealed), id = fromHex(i.id);
  require(sealed.length > 0);
  if (sealed[0] !== 2) throw new Unsupported();
  const key = await nodeKey(i);
  require(sealed.length > 17);
  const padded = await openGcm(await kdf(key, "seal", t, id), about(i, t, id), sealed.subarray(1));
  require(toHex(blake3.keyedHash(await kdf(key, "id", t), padded)) === i.id);
  return padded;
}

function checkPadding(padded, payload) {
  require(1 + payload <= padded.length && padded.length === padme(1 + payload));
  require(padded.subarray(1 + payload).every((byte) => byte === 0));
}

async function openChunk(i) {
  const padded = await open(i, "c");
  if (padded[0] === 1) {
    let opened;
    try {
      opened = decompress(padded.subarray(1), i.length);
    } catch {
      throw new NotGenuine();
    }
    checkPadding(padded, opened.end);
    require(toHex(blake3.hash(opened.plain)) === i.hash);
    return { plain: toHex(opened.plain) };
  }
  if (padded[0] !== 0) throw new Unsupported();
  checkPadding(padded, i.length);
  const plain = padded.subarray(1, 1 + i.length);
  require(toHex(blake3.hash(plain)) === i.hash);
  return { plain: toHex(plain) };
}

function keystream(key, length) {
  return new Uint8Array(createCipheriv("aes-256-ctr", key, zeros(16)).update(zeros(length)));
}

// Digests of 64 bits in two halves: the last 64 bytes before each candidate length.
class Toeplitz {
  constructor(key) {
    const stream = keystream(key, 16 + 2048), view = new DataView(stream.buffer, stream.byteOffset);
    this.aes = stream.subarray(0, 16);
    this.low = new Uint32Array(256);
    this.high = new Uint32Array(256);
    this.outLow = new Uint32Array(256);
    this.outHigh = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      this.low[i] = view.getUint32(16 + 8 * i, true);
      this.high[i] = view.getUint32(20 + 8 * i, true);
      let value = (BigInt(this.high[i]) << 32n) | BigInt(this.low[i]);
      // x^64 = x^4 + x^3 + x + 1; what passes x^63 again is reduced once more.
      value = value ^ (value << 1n) ^ (value << 3n) ^ (value << 4n);
      const over = value >> 64n;
      value = BigInt.asUintN(64, value) ^ over ^ (over << 1n) ^ (over << 3n) ^ (over << 4n);
      this.outLow[i] = Number(value & 0xffffffffn);
      this.outHigh[i] = Number(value >> 32n);
    }
  }

  first(data, from, to, bits) {
    let low = 0, high = 0;
    const shift = () => {
      const carry = high >>> 31;
      high = (high << 1) | (low >>> 31);
      low = (low << 1) ^ (carry ? 0x1b : 0);
    };
    for (let n = from - 64; n < from; n++) {
      shift();
      low ^= this.low[data[n]];
      high ^= this.high[data[n]];
    }
    for (let start = from; start < to; start += 65_536) {
      const count = Math.min(65_536, to - start);
      const blocks = Buffer.alloc(16 * count);
      for (let n = 0; n < count; n++) {
        blocks.writeUInt32LE(low >>> 0, 16 * n);
        blocks.writeUInt32LE(high >>> 0, 16 * n + 4);
        const next = data[start + n], out = data[start + n - 64];
        shift();
        low ^= this.low[next] ^ this.outLow[out];
        high ^= this.high[next] ^ this.outHigh[out];
      }
      const cipher = createCipheriv("aes-128-ecb", this.aes, null).setAutoPadding(false).update(blocks);
      for (let n = 0; n < count; n++) {
        if (cipher.readUInt32LE(16 * n) % 2 ** bits === 0) return start + n;
      }
    }
    return null;
  }

  cut(data) {
    if (data.length <= MIN_CHUNK) return data.length;
    const end = Math.min(data.length, MAX_CHUNK), normal = Math.min(end, NORMAL_CHUNK);
    return this.first(data, MIN_CHUNK, normal, 23) ?? this.first(data, normal, end, 17) ?? end;
  }
}

async function cut(i) {
  const chunker = new Toeplitz(await kdf(await nodeKey(i), "cut"));
  let rest = keystream(fromHex(i.data_key), i.length);
  const lengths = [];
  while (rest.length > 0) {
    const length = chunker.cut(rest);
    lengths.push(length);
    rest = rest.subarray(length);
  }
  return { lengths };
}

function format(reader, expected) {
  const found = reader.u8();
  if (found !== 2 && found !== 3) throw new Unsupported();
  require(found === expected);
}

function readKeys(reader) {
  const keys = Array.from({ length: reader.u8() }, () => ({ node: toHex(reader.take(16)), epoch: reader.v() }));
  require(keys.length > 0 && new Set(keys.map((key) => key.node + key.epoch)).size === keys.length);
  return keys;
}

function readRows(reader, max, smallest, read) {
  const count = reader.v();
  require(count <= max && count * smallest <= reader.rest().length);
  return Array.from({ length: count }, read);
}

function readManifest(reader) {
  format(reader, 2);
  const keys = readKeys(reader), cut = reader.u8();
  const rows = readRows(reader, ROWS_PER_PART, 66, () => {
    const row = { key: reader.u8(), id: toHex(reader.take(32)), length: reader.v(), hash: toHex(reader.take(32)) };
    require(row.key < keys.length && row.length > 0 && row.length <= MAX_CHUNK);
    return row;
  });
  require(cut < keys.length && rows.length > 0);
  return { keys, cut, rows };
}

function readTop(reader) {
  format(reader, 3);
  const keys = readKeys(reader);
  const parts = readRows(reader, 4_096, 34, () => {
    const part = { key: reader.u8(), id: toHex(reader.take(32)), length: reader.v() };
    require(part.key < keys.length && part.length > 0);
    return part;
  });
  require(parts.length > 1);
  return { keys, parts };
}

const record = (read, t) => async (i) => {
  const bytes = fromHex(i.record), reader = new Reader(bytes);
  const manifest = read(reader);
  reader.end();
  return { manifest, object: await seal(i, t, 0, bytes) };
};

async function openManifest(i) {
  const padded = await open(i, "m");
  require(padded[0] === 0);
  const reader = new Reader(padded.subarray(1)), manifest = readManifest(reader);
  checkPadding(padded, reader.at);
  return manifest;
}

async function attributes(i) {
  const bytes = fromHex(i.record), reader = new Reader(bytes);
  let last = null;
  const all = readRows(reader, bytes.length, 2, () => {
    const name = reader.vx(255), value = reader.vx();
    require(name.length > 0 && (last === null || Buffer.compare(last, name) < 0));
    last = name;
    return [toHex(name), toHex(value)];
  });
  reader.end();
  return { attributes: all, object: await seal(i, "x", 0, bytes) };
}

// AES-SIV (RFC 5297) with one associated string, from the cipher alone.
function cmac(key, message) {
  const aes = (block) => createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(block);
  const one = double(aes(zeros(16))), two = double(one);
  const count = Math.max(1, Math.ceil(message.length / 16));
  const last = zeros(16), rest = message.subarray(16 * (count - 1));
  last.set(rest);
  if (rest.length < 16) last[rest.length] = 0x80;
  const mask = rest.length < 16 ? two : one;
  let state = zeros(16);
  for (let n = 0; n < count; n++) {
    const block = n === count - 1 ? xor(last, mask) : message.subarray(16 * n, 16 * n + 16);
    state = aes(xor(state, block));
  }
  return state;
}

const xor = (a, b) => Uint8Array.from(a, (byte, n) => byte ^ b[n]);

function double(block) {
  const out = Uint8Array.from(block, (byte, n) => (byte << 1) | ((block[n + 1] ?? 0) >> 7));
  if (block[0] & 0x80) out[15] ^= 0x87;
  return out;
}

function siv(key, associated, plain) {
  const start = xor(double(cmac(key, zeros(16))), cmac(key, associated));
  if (plain.length < 16) {
    const padded = zeros(16);
    padded.set(plain);
    padded[plain.length] = 0x80;
    return cmac(key, xor(double(start), padded));
  }
  const end = plain.slice();
  end.set(xor(end.subarray(-16), start), end.length - 16);
  return cmac(key, end);
}

export async function openSiv(i, sealed) {
  const { boxes } = await spaceKeys(i);
  const [mac, enc] = [await kdf(boxes, "siv-mac"), await kdf(boxes, "siv-enc")];
  const counter = sealed.slice(0, 16);
  counter[8] &= 0x7f;
  counter[12] &= 0x7f;
  const plain = new Uint8Array(createCipheriv("aes-256-ctr", enc, counter).update(sealed.subarray(16)));
  const expected = siv(mac, tuple("box", fromUuid(i.space), i.epoch, fromUuid(i.node), i.seq), plain);
  require(toHex(expected) === toHex(sealed.subarray(0, 16)));
  return plain;
}

async function openBox(i) {
  await spaceKeys(i);
  const sealed = fromHex(i.box);
  if (i.folder && !i.private) {
    require(sealed.length === 0);
    return {};
  }
  require(sealed.length >= 16);
  const plain = await openSiv(i, sealed), reader = new Reader(plain);
  if (!i.private) {
    const hash = toHex(reader.take(32));
    reader.end();
    return { hash };
  }
  const name = reader.text(255);
  const box = i.folder
    ? { name }
    : { name, size: reader.v(), mtime_ms: reader.zz(), mime: reader.text(255), hash: toHex(reader.take(32)) };
  const padding = reader.rest();
  require(plain.length % 32 === 0 && padding.length < 32 && padding.every((byte) => byte === 0));
  require(name !== "" && box.mime !== "");
  return box;
}

const PURPOSES = {
  account: (i) => [fromUuid(i.account)],
  recovery: (i) => [fromUuid(i.account)],
  identity: (i) => [fromUuid(i.account)],
  sharing: (i) => [fromUuid(i.account)],
  "personal-ring": (i) => [fromUuid(i.account)],
  ring: (i) => [fromUuid(i.space), i.epoch],
  "device-box": (i) => [fromUuid(i.space), i.epoch, i.number],
  grant: (i) => [fromUuid(i.space), i.epoch, fromUuid(i.account)],
  listing: (i) => [fromUuid(i.share), fromUuid(i.node), i.number],
};

/** Opens a seal of a small secret: salt, then AES-GCM under a key derived with it. */
export async function openSeal(key, purpose, i, sealed) {
  const label = purpose === "personal-ring" ? "ring" : purpose;
  require(sealed.length >= 48);
  const derived = await kdf(key, label, sealed.subarray(0, 32));
  return openGcm(derived, tuple(label, ...PURPOSES[purpose](i)), sealed.subarray(32));
}

async function openSecret(i) {
  return { plain: toHex(await openSeal(fromHex(i.key), i.purpose, i, fromHex(i.sealed))) };
}

/** Opens a chunk with the key of it alone, as a listing has it. */
export async function openListed(space, chunk, key, sealed) {
  require(sealed.length > 17);
  if (sealed[0] !== 2) throw new Unsupported();
  const about = tuple("object", "c", fromUuid(space), chunk.epoch, fromUuid(chunk.node), fromHex(chunk.id));
  const padded = await openGcm(key, about, sealed.subarray(1));
  require(padded[0] === 0);
  checkPadding(padded, chunk.length);
  const plain = padded.subarray(1, 1 + chunk.length);
  require(toHex(blake3.hash(plain)) === chunk.hash);
  return plain;
}

export const operations = {
  check_value: async (i) => ({ check: toHex((await spaceKeys(i)).check) }),
  seal_chunk: (i) => seal(i, "c", 0, fromHex(i.plain)),
  sealed_length: (i) => ({ sealed: 1 + padme(1 + i.length) + 16 }),
  open_chunk: openChunk,
  cut,
  manifest: record(readManifest, "m"),
  top: record(readTop, "m"),
  open_manifest: openManifest,
  attributes,
  open_box: openBox,
  open_secret: openSecret,
};
