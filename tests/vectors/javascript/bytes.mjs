// Bytes, numbers, tuples and derivations of format 2.

/** Something was altered, or belongs elsewhere. */
export class NotGenuine extends Error {
  constructor(kind = "auth_failed") {
    super(kind);
    this.class = kind;
  }
}

/** A format, kind or flag that this version doesn't know. */
export class Unsupported extends Error {}

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const toHex = (bytes) => Buffer.from(bytes).toString("hex");
export const fromUuid = (uuid) => fromHex(uuid.replaceAll("-", ""));
export const toUuid = (bytes) => toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
export const zeros = (length) => new Uint8Array(length);
export const require = (holds) => {
  if (!holds) throw new NotGenuine();
};

export function join(...parts) {
  const all = parts.map((part) => (typeof part === "string" ? utf8.encode(part) : Uint8Array.from(part)));
  return new Uint8Array(Buffer.concat(all));
}

export function u32(value) {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, value);
  return out;
}

export function u64(value) {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(value));
  return out;
}

/** T(label, parts): numbers are u64, ids and keys bytes, strings UTF-8; each with its length in front. */
export function tuple(label, ...parts) {
  const framed = [];
  for (let part of [`cairn/2/${label}`, ...parts]) {
    if (typeof part === "number" || typeof part === "bigint") part = u64(part);
    if (typeof part === "string") part = utf8.encode(part);
    framed.push(u32(part.length), part);
  }
  return join(...framed);
}

/** HKDF-Expand with SHA-256, one block. */
export async function kdf(key, label, ...parts) {
  const how = { name: "HMAC", hash: "SHA-256" };
  const hmac = await crypto.subtle.importKey("raw", key, how, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", hmac, join(tuple(label, ...parts), [1])));
}

/** HKDF-Extract with SHA-256. */
export async function extract(salt, input) {
  const how = { name: "HMAC", hash: "SHA-256" };
  const hmac = await crypto.subtle.importKey("raw", salt, how, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", hmac, input));
}

export async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

/** AES-256-GCM with a nonce of zeros: opens `sealed`, ciphertext and tag. */
export async function openGcm(key, associated, sealed) {
  require(sealed.length >= 16);
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
  try {
    const how = { name: "AES-GCM", iv: zeros(12), additionalData: associated };
    return new Uint8Array(await crypto.subtle.decrypt(how, aes, sealed));
  } catch {
    throw new NotGenuine();
  }
}

export async function sealGcm(key, associated, plain) {
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const how = { name: "AES-GCM", iv: zeros(12), additionalData: associated };
  return new Uint8Array(await crypto.subtle.encrypt(how, aes, plain));
}

/** Padmé, for lengths below 2^31. */
export function padme(length) {
  if (length <= 2) return length;
  const exponent = 31 - Math.clz32(length);
  const free = Math.max(0, exponent - (32 - Math.clz32(exponent)));
  const mask = 2 ** free - 1;
  return Math.floor((length + mask) / (mask + 1)) * (mask + 1);
}

/** Takes fields from a record. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  take(length) {
    require(length <= this.bytes.length - this.at);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  u8() {
    return this.take(1)[0];
  }
  u32() {
    const [a, b, c, d] = this.take(4);
    return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  }
  u48() {
    return this.take(6).reduce((value, byte) => value * 256 + byte, 0);
  }
  big() {
    let value = 0n;
    for (let shift = 0n; shift < 63n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        require((byte !== 0 || shift === 0n) && value < 1n << 63n);
        return value;
      }
    }
    throw new NotGenuine();
  }
  /** A number of variable length; the vectors have none above 2^53. */
  v() {
    return Number(this.big());
  }
  zz() {
    const value = this.big();
    return Number((value >> 1n) ^ -(value & 1n));
  }
  vx(max = Infinity) {
    const length = this.v();
    require(length <= max);
    return this.take(length);
  }
  text(max) {
    try {
      return text.decode(this.vx(max));
    } catch {
      throw new NotGenuine();
    }
  }
  rest() {
    return this.bytes.subarray(this.at);
  }
  end() {
    require(this.at === this.bytes.length);
  }
}
