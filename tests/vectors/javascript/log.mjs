// The log of format 2: statements, commits, entries, pages, the tree and its proofs, snapshots, boxes.

import { verify as verifySignature, createPublicKey } from "node:crypto";
import {
  Reader, Unsupported, fromHex, fromUuid, join, require, sha256, toHex, toUuid, tuple,
} from "./bytes.mjs";
import { blake3 } from "./content.mjs";
import { extended } from "./xof.mjs";

const MAX_BOX = 1024, MAX_ATTRIBUTES = 65_536, MAX_TARGET = 4096, MAX_COMMIT = 1 << 20, MAX_PAGE = 8 << 20;

const hash = (bytes) => sha256([0], bytes);
const pair = (left, right) => sha256([1], left, right);

// Keys of small order, which verify what nobody signed: those that the vectors have.
const WEAK = new Set([
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000000",
]);

export function verify(key, message, signature) {
  require(!WEAK.has(toHex(key)));
  let holds = false;
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(key).toString("base64url") };
    holds = verifySignature(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    // Not a point of the curve.
  }
  require(holds);
}

const FLAGS = ["folder", "executable", "trashed", "private", "confirmed", "manifest", "other", "symlink", "attributes"];
const NODE_KINDS = new Set([1, 2, 3, 4, 5, 6, 9]);

const isNil = (bytes) => bytes.every((byte) => byte === 0);
const optional = (bytes) => (isNil(bytes) ? null : toUuid(bytes));
const keyOf = (reader) => ({ node: toUuid(reader.take(16)), epoch: reader.v() });

function readFlags(reader, known) {
  const bits = reader.v();
  if (bits > known || (bits & ~known) !== 0) throw new Unsupported();
  return (bit) => (bits & bit) !== 0;
}

function readNode(reader, kind) {
  const node = reader.take(16), seq = reader.v(), prev = reader.take(16), has = readFlags(reader, 511);
  const parent = reader.take(16), name = reader.vx(), epoch = reader.v();
  const flag = (name) => has(1 << FLAGS.indexOf(name));
  let file = null;
  if (!flag("folder")) {
    file = { object: toHex(reader.take(32)), size: null, mtime_ms: null, key: null, attributes: null };
    if (!flag("private")) [file.size, file.mtime_ms] = [reader.v(), reader.zz()];
    if (flag("other")) file.key = keyOf(reader);
    if (flag("attributes")) {
      file.attributes = { object: toHex(reader.take(32)), key: keyOf(reader), length: reader.v() };
    }
  }
  const box = reader.vx(MAX_BOX);
  reader.end();
  const out = {
    node: toUuid(node), seq, prev: toHex(prev), parent: optional(parent), name: toHex(name), epoch, file,
    flags: FLAGS.filter((name) => name !== "other" && name !== "attributes" && flag(name)), box: toHex(box),
  };
  checkNode(out, kind, flag);
  return out;
}

function checkNode(out, kind, flag) {
  const { file } = out, isPrivate = flag("private");
  const ofFiles = ["executable", "manifest", "symlink", "other", "attributes"];
  require(!isNil(fromUuid(out.node)) && out.parent !== out.node && out.seq > 0 && out.epoch > 0);
  require((out.name === "") === isPrivate && (out.box !== "") === (isPrivate || file !== null));
  if (kind === 1 || kind === 5) require(!flag("trashed"));
  if (kind === 4) require(flag("trashed"));
  require(!flag("confirmed") || kind === 4);
  if (file === null) return require(!ofFiles.some(flag));
  const isPast = (key) => key.epoch > 0 && key.epoch <= out.epoch;
  if (file.key !== null) {
    require(isPast(file.key) && !(file.key.node === out.node && file.key.epoch === out.epoch));
  }
  if (file.attributes !== null) require(isPast(file.attributes.key) && file.attributes.length <= MAX_ATTRIBUTES);
  if (flag("symlink")) {
    require(!flag("executable") && !flag("manifest"));
    require(file.size === null || (file.size >= 1 && file.size <= MAX_TARGET));
  }
}

const choice = (reader, codes) => {
  const code = reader.u8();
  require(codes.includes(code));
  return code;
};
const rows = (reader, smallest, read) => {
  const count = reader.v();
  require(count * smallest <= reader.rest().length);
  return Array.from({ length: count }, read);
};
const hex = (reader, length) => toHex(reader.take(length));

const BODIES = {
  32: (r) => ({
    private: choice(r, [0, 1]) === 1, account: toUuid(r.take(16)), identity: hex(r, 32), clock_ms: r.u48(),
    random: hex(r, 16),
  }),
  33: (r) => {
    const members = rows(r, 49, () => ({
      account: toUuid(r.take(16)), identity: hex(r, 32), role: choice(r, [1, 2, 3, 4]),
    }));
    const boxes = hex(r, 32), by = optional(r.take(16)), bytes = r.take(64);
    const signature = isNil(bytes) ? null : toHex(bytes);
    require((by === null) === (signature === null));
    return { members, boxes, by, signature };
  },
  34: (r) => ({ epoch: r.v(), check: hex(r, 32), boxes: hex(r, 32) }),
  35: (r) => ({
    identity: hex(r, 32), counter: r.v(), sharing: r.take(384 + 1184),
    devices: Array.from({ length: r.u8() }, () => ({ number: r.u32(), key: hex(r, 32) })), signature: hex(r, 64),
  }),
  36: (r) => ({ invite: hex(r, 16), token: hex(r, 32), role: choice(r, [0, 1, 2, 3, 4]), expiry_ms: r.u48() }),
  37: (r) => ({ position: r.v(), root: hex(r, 32), digest: hex(r, 32), epoch: r.v() }),
  38: (r) => ({ act: choice(r, [1, 2, 3]), top: toUuid(r.take(16)), listing: r.v(), hash: hex(r, 32) }),
  39: (r) => ({ history: hex(r, 16), size: r.v(), root: hex(r, 32) }),
  40: (r) => ({ in: choice(r, [0, 1]) === 1, genesis: hex(r, 32), size: r.v(), root: hex(r, 32) }),
  41: (r) => ({ objection: choice(r, [1, 2]) === 2, old: hex(r, 32), new: hex(r, 32), signature: hex(r, 64) }),
};

async function readStatement(bytes) {
  const reader = new Reader(bytes), kind = reader.u8();
  if (NODE_KINDS.has(kind)) return { id: bytes.subarray(1, 17), kind, ...readNode(reader, kind) };
  if (BODIES[kind] === undefined) throw new Unsupported();
  const chain = reader.take(16), prev = reader.take(16), body = BODIES[kind](reader);
  reader.end();
  if (kind === 35) body.sharing = toHex(await sha256(body.sharing));
  return { id: chain, kind, chain: toHex(chain), prev: toHex(prev), body };
}

function revision(short) {
  const bytes = short.slice();
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return toUuid(bytes);
}

async function statement(i) {
  const bytes = fromHex(i.statement), { id, ...out } = await readStatement(bytes);
  const whole = await hash(bytes), short = whole.slice(0, 16);
  return { ...out, hash: toHex(whole), short: toHex(short), revision: revision(short) };
}

async function signedControl(i) {
  const bytes = fromHex(i.statement), { kind, id, prev, body } = await readStatement(bytes);
  if (kind === 35) {
    const devices = body.devices.flatMap(({ number, key }) => [number, fromHex(key)]);
    const message = tuple("devices", id, body.counter, fromHex(body.sharing), ...devices);
    verify(fromHex(body.identity), message, fromHex(body.signature));
  } else if (kind === 33) {
    require(body.signature !== null);
    const members = bytes.subarray(33, bytes.length - 80 - 32);
    const message = tuple("roster", fromUuid(i.space), fromHex(prev), members, fromHex(body.boxes));
    verify(fromHex(i.identity), message, fromHex(body.signature));
  } else {
    require(kind === 41);
    const [old, fresh] = [fromHex(body.old), fromHex(body.new)];
    const message = tuple("claim", fromUuid(i.account), body.objection ? 2 : 1, old, fresh);
    verify(body.objection ? old : fresh, message, fromHex(body.signature));
  }
  return {};
}

function readHeader(reader) {
  const start = reader.at;
  require(toHex(reader.take(2)) === toHex(join("C2")));
  const header = {
    history: hex(reader, 16), device: reader.u32(), own: reader.v(), seen: reader.v(), root: hex(reader, 32),
    clock_ms: reader.u48(),
  };
  const count = reader.v();
  require(count >= 1 && count <= 256 && header.device !== 0);
  return { header, count, bytes: reader.bytes.subarray(start, reader.at) };
}

async function readCommit(bytes) {
  require(bytes.length <= MAX_COMMIT);
  const reader = new Reader(bytes), { header, count, bytes: head } = readHeader(reader);
  const signature = reader.take(64), statements = Array.from({ length: count }, () => reader.vx());
  reader.end();
  const root = await rootOf(await Promise.all(statements.map(hash)));
  return { header, head, signature, statements, root, leaf: await hash(join(head, signature, root)) };
}

async function commit(i) {
  const { header, head, signature, statements, root, leaf } = await readCommit(fromHex(i.commit));
  verify(fromHex(i.key), tuple("commit", fromUuid(i.space), head, root), signature);
  const hashes = await Promise.all(statements.map(async (one) => toHex(await hash(one))));
  return { ...header, statements: hashes, statements_root: toHex(root), leaf: toHex(leaf) };
}

function readEntry(bytes) {
  const reader = new Reader(bytes);
  require(toHex(reader.take(2)) === toHex(join("E2")));
  const op = reader.u8();
  if (op < 1 || op > 9) throw new Unsupported();
  const node = reader.take(16), prev = toHex(reader.take(16)), has = readFlags(reader, 1 + 4 + 16 + 32 + 64);
  const [folder, trashed, purged] = [has(1), has(4), has(64)];
  const parent = optional(reader.take(16)), name = toHex(reader.vx());
  let source = null;
  require(!(has(16) && has(32)));
  if (has(16)) source = { node: toUuid(reader.take(16)), statement: hex(reader, 16) };
  if (has(32)) source = { sha256: hex(reader, 32), size: reader.v() };
  const actor = toUuid(reader.take(16)), clock_ms = reader.u48();
  reader.end();
  const holds = [folder, true, trashed, !trashed, has(16), has(16), purged, has(32), true];
  require(holds[op - 1] && !(folder && source !== null) && parent !== toUuid(node) && !isNil(node));
  return { id: node, out: { op, node: toUuid(node), prev, folder, trashed, purged, parent, name, source, actor, clock_ms } };
}

const entryLeaf = async (bytes) => hash(join("E2", await hash(bytes)));

async function entry(i) {
  const bytes = fromHex(i.entry), { out } = readEntry(bytes);
  return { ...out, leaf: toHex(await entryLeaf(bytes)) };
}

async function leafOf([type, ...rest]) {
  const body = Uint8Array.from(rest);
  if (type === 1) return (await readCommit(body)).leaf;
  if (type === 3) return entryLeaf(body);
  if (type === 4) require(body.length === 34 && body[0] === 0x45 && body[1] === 0x32);
  else {
    const reader = new Reader(body);
    readHeader(reader);
    reader.take(96);
    reader.end();
  }
  return hash(body);
}

async function page(i) {
  const bytes = fromHex(i.page), reader = new Reader(bytes);
  require(bytes.length <= MAX_PAGE);
  const head = {
    history: hex(reader, 16), size: reader.v(), root: hex(reader, 32), restored_at_ms: reader.u48(),
    restored_to: reader.v(),
  };
  const frames = [];
  while (reader.rest().length > 0) {
    const frame = reader.vx(MAX_COMMIT + 1);
    require(frame.length > 0);
    if (frame[0] < 1 || frame[0] > 4) throw new Unsupported();
    frames.push(frame);
  }
  const leaves = [];
  for (const frame of frames) leaves.push(toHex(await leafOf(frame)));
  return { ...head, leaves };
}

/** The root over hashes of leaves, by the definition of RFC 9162, section 2.1.1. */
async function rootOf(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0];
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  return pair(await rootOf(leaves.slice(0, left)), await rootOf(leaves.slice(left)));
}

async function roots(i) {
  return { root: toHex(await rootOf(await Promise.all(i.leaves.map((leaf) => hash(fromHex(leaf)))))) };
}

// The size of the left subtree: the largest power of two below the size.
const leftOf = (size) => 2 ** Math.ceil(Math.log2(size) - 1);

async function inclusion(i) {
  require(i.position < i.size);
  const path = i.path.map(fromHex);
  // From the top down: the definition of the path, read backwards.
  const climb = async (position, size) => {
    if (size === 1) return fromHex(i.leaf);
    require(path.length > 0);
    const other = path.pop(), left = leftOf(size);
    return position < left ? pair(await climb(position, left), other) : pair(other, await climb(position - left, size - left));
  };
  const root = await climb(i.position, i.size);
  require(path.length === 0 && toHex(root) === i.root);
  return {};
}

async function consistency(i) {
  require(i.old_size <= i.new_size);
  const path = i.path.map(fromHex);
  const climb = async (old, size, isWhole) => {
    if (old === size) {
      if (isWhole) return [fromHex(i.old_root), fromHex(i.old_root)];
      require(path.length > 0);
      const root = path.pop();
      return [root, root];
    }
    require(path.length > 0);
    const other = path.pop(), left = leftOf(size);
    if (old <= left) {
      const [before, after] = await climb(old, left, isWhole);
      return [before, await pair(after, other)];
    }
    const [before, after] = await climb(old - left, size - left, false);
    return [await pair(other, before), await pair(other, after)];
  };
  const [before, after] = await climb(i.old_size, i.new_size, true);
  require(path.length === 0 && toHex(before) === i.old_root && toHex(after) === i.new_root);
  return {};
}

// Nodes and each class of chains have names of their own: two digits.
function classOf(kind) {
  if (kind < 32) return "00";
  return String([33, 34, 36].includes(kind) ? 32 : kind);
}

async function snapshot(i) {
  const reader = new Reader(fromHex(i.snapshot));
  const sum = new Uint16Array(1024), statements = new Map();
  const items = [];
  let last = "";
  while (reader.rest().length > 0) {
    const bytes = reader.vx(MAX_COMMIT), isEntry = bytes[0] === 0x45 && bytes[1] === 0x32;
    const whole = await hash(bytes);
    const read = isEntry ? readEntry(bytes) : await readStatement(bytes);
    const name = `${toHex(read.id)}${classOf(isEntry ? 0 : read.kind)}`, place = `${name}${isEntry ? 1 : 0}`;
    if (isEntry) require(read.out.prev === (statements.get(name) ?? "00".repeat(16)));
    else statements.set(name, toHex(whole.subarray(0, 16)));
    require(place > last);
    last = place;
    items.push(toHex(whole));
    if (isEntry || read.kind !== 37) {
      const input = tuple("state", read.id, isEntry ? "server" : "signed", whole);
      const numbers = extended(input, 2048);
      for (let n = 0; n < 1024; n++) sum[n] += numbers[2 * n] + 256 * numbers[2 * n + 1];
    }
  }
  const bytes = new DataView(new ArrayBuffer(2048));
  sum.forEach((number, n) => bytes.setUint16(2 * n, number, true));
  return { items, digest: toHex(blake3.hash(new Uint8Array(bytes.buffer))) };
}

export async function readBoxes(bytes) {
  const reader = new Reader(bytes), ring = reader.vx();
  const boxes = rows(reader, 21, () => ({ account: toUuid(reader.take(16)), number: reader.u32(), sealed: toHex(reader.vx()) }));
  reader.end();
  const places = boxes.map(({ account, number }) => `${account}${number.toString(16).padStart(8, "0")}`);
  require(places.every((place, n) => n === 0 || places[n - 1] < place));
  return { ring: toHex(ring), boxes, hash: toHex(await sha256(bytes)) };
}

export const operations = {
  statement,
  signed_control: signedControl,
  commit,
  entry,
  page,
  root_of: roots,
  inclusion,
  consistency,
  snapshot,
  boxes: (i) => readBoxes(fromHex(i.boxes)),
};
