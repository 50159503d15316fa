// Accounts of format 2: passphrases, account keys, epochs, grants, invitations, links.

import { constants, createPrivateKey, createPublicKey, pbkdf2Sync, privateDecrypt } from "node:crypto";
import { argon2id } from "./argon2.mjs";
import {
  NotGenuine, Reader, extract, fromHex, fromUuid, join, kdf, require, sha256, toHex, toUuid, tuple,
} from "./bytes.mjs";
import { openListed, openSeal } from "./content.mjs";
import { readBoxes, verify } from "./log.mjs";
import { decapsulate, keyPair } from "./mlkem.mjs";

const utf8 = new TextEncoder();
const roots = new Map();

async function rootOf(i) {
  const { memory, passes, lanes } = i, within = (value, from, to) => value >= from && value <= to;
  const holds = within(memory, 65_536, 1_048_576) && within(passes, 3, 10) && within(lanes, 1, 8);
  if (!holds || /^0+$/.test(i.salt)) throw new NotGenuine("weak_kdf");
  if (i.passphrase === "") throw new NotGenuine("invalid_input");
  const passphrase = i.passphrase.normalize("NFKC"), name = [passphrase, memory, passes, lanes, i.salt].join();
  if (!roots.has(name)) roots.set(name, argon2id(utf8.encode(passphrase), fromHex(i.salt), { memory, passes, lanes }));
  return roots.get(name);
}

async function root(i) {
  const key = await rootOf(i), kek = await kdf(key, "kek"), auth = await kdf(key, "auth");
  const salt = tuple("recovery-gate", fromUuid(i.account));
  const recovery_hash = toHex(pbkdf2Sync(auth, salt, 600_000, 32, "sha256"));
  return { kek: toHex(kek), auth: toHex(auth), recovery_hash };
}

async function words(i) {
  const space = fromUuid(i.space), head = tuple("words", space, i.size, fromHex(i.root));
  const hash = argon2id(head, space, { memory: 65_536, passes: 1, lanes: 1 });
  const bits = [...hash].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return { places: Array.from({ length: 12 }, (_, n) => parseInt(bits.slice(11 * n, 11 * n + 11), 2)) };
}

function publicOf(seed) {
  const der = join(fromHex("302e020100300506032b657004220420"), seed);
  const key = createPublicKey(createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" }));
  return new Uint8Array(Buffer.from(key.export({ format: "jwk" }).x, "base64url"));
}

async function token(i) {
  const reader = new Reader(fromHex(i.token)), seed = reader.take(16), size = reader.v(), root = toHex(reader.take(32));
  reader.end();
  return { public: toHex(publicOf(await kdf(seed, "token", fromUuid(i.space)))), size, root };
}

async function acceptance(i) {
  const message = tuple(
    "accept", fromUuid(i.space), fromHex(i.genesis), fromHex(i.invite), fromUuid(i.account), fromHex(i.identity),
    fromHex(i.sharing),
  );
  verify(fromHex(i.token_key), message, fromHex(i.by_token));
  verify(fromHex(i.identity), message, fromHex(i.by_identity));
  return {};
}

function readRing(bytes) {
  const reader = new Reader(bytes), count = reader.v(), ring = [];
  require(count * 33 <= bytes.length);
  for (let n = 0; n < count; n++) {
    const epoch = reader.v(), secret = reader.take(32);
    require(epoch > (ring.at(-1)?.[0] ?? 0) && secret.some((byte) => byte !== 0));
    ring.push([epoch, toHex(secret)]);
  }
  reader.end();
  return ring;
}

const number = (bytes) => BigInt(`0x${toHex(bytes)}`);
const url = (value, length) => Buffer.from(value.toString(16).padStart(2 * length, "0"), "hex").toString("base64url");

function inverse(value, modulus) {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}

// The private sharing keys: RSA primes p and q, ML-KEM seed.
function readSharing(bytes) {
  require(bytes.length === 448);
  const [p, q] = [number(bytes.subarray(0, 192)), number(bytes.subarray(192, 384))];
  const e = 65_537n, n = p * q, d = inverse(e, (p - 1n) * (q - 1n));
  const jwk = {
    kty: "RSA", n: url(n, 384), e: "AQAB", d: url(d, 384), p: url(p, 192), q: url(q, 192),
    dp: url(d % (p - 1n), 192), dq: url(d % (q - 1n), 192), qi: url(inverse(q, p), 192),
  };
  const rsa = createPrivateKey({ key: jwk, format: "jwk" }), kem = keyPair(bytes.subarray(384));
  const modulus = fromHex(n.toString(16).padStart(768, "0"));
  return { rsa, kem, both: join(modulus, kem.publicKey) };
}

const boxKey = (key, number) => kdf(key, "bk", number);

async function readAccount(key, i) {
  const identity = await openSeal(key, "identity", i, fromHex(i.sealed_identity));
  const sharing = await openSeal(key, "sharing", i, fromHex(i.sealed_sharing));
  const personal = await openSeal(key, "personal-ring", i, fromHex(i.sealed_ring));
  require(identity.length === 32 && personal.length > 32);
  return {
    identity: toHex(publicOf(identity)),
    sharing: toHex(await sha256(readSharing(sharing).both)),
    genesis: toHex(personal.subarray(0, 32)),
    ring: readRing(personal.subarray(32)),
    box_key: toHex(await boxKey(key, i.number)),
  };
}

async function openAccount(i) {
  const kek = await kdf(await rootOf(i), "kek");
  return readAccount(await openSeal(kek, "account", i, fromHex(i.sealed_account)), i);
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

async function openAccountWithRecovery(i) {
  const digits = [...i.recovery.replaceAll("-", "")].map((digit) => ALPHABET.indexOf(digit));
  if (digits.length !== 40 || digits.includes(-1)) throw new NotGenuine("invalid_input");
  const bits = digits.map((digit) => digit.toString(2).padStart(5, "0")).join("");
  // 20 bytes of secret; 5 that catch a mistyped letter are left to Rust.
  const secret = Uint8Array.from({ length: 20 }, (_, n) => parseInt(bits.slice(8 * n, 8 * n + 8), 2));
  const recovery = await kdf(secret, "recovery-key", fromUuid(i.account));
  return readAccount(await openSeal(recovery, "recovery", i, fromHex(i.sealed_recovery)), i);
}

async function openRing(i) {
  const newest = fromHex(i.secret);
  require(newest.some((byte) => byte !== 0));
  const older = readRing(await openSeal(newest, "ring", i, fromHex(i.ring)));
  require((older.at(-1)?.[0] ?? 0) < i.epoch);
  return { ring: [...older, [i.epoch, i.secret]] };
}

async function grantSecret(i, grant) {
  require(grant.length === 384 + 1088 + 32 + 48);
  const { rsa, kem, both } = readSharing(fromHex(i.sharing_private));
  const [byRsa, byKem, sealed] = [grant.subarray(0, 384), grant.subarray(384, 1472), grant.subarray(1472)];
  const parts = [fromUuid(i.space), i.epoch, fromUuid(i.account)];
  const oaepLabel = Buffer.from(toHex(tuple("grant", ...parts)));
  let secret;
  try {
    const how = { key: rsa, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256", oaepLabel };
    secret = privateDecrypt(how, byRsa);
  } catch {
    throw new NotGenuine();
  }
  const salt = await sha256(tuple("grant", ...parts, both, byRsa, byKem));
  const key = await extract(salt, join(secret, decapsulate(kem, byKem)));
  return openSeal(key, "grant", i, sealed);
}

const check = (secret, i) => kdf(secret, "check", fromUuid(i.space), i.epoch);

async function openGrant(i) {
  const secret = await grantSecret(i, fromHex(i.grant));
  return { secret: toHex(secret), check: toHex(await check(secret, i)) };
}

// The box for somebody in a blob that a statement names.
async function boxFor(i, number) {
  const { ring, boxes, hash } = await readBoxes(fromHex(i.boxes));
  const box = boxes.find((one) => one.account === i.account && one.number === number);
  require(hash === i.boxes_hash && box !== undefined);
  return { ring, sealed: fromHex(box.sealed) };
}

async function openTeamEpoch(i) {
  const { ring, sealed } = await boxFor(i, 0), secret = await grantSecret(i, sealed);
  require(toHex(await check(secret, i)) === i.check);
  return openRing({ ...i, ring, secret: toHex(secret) });
}

async function openDeviceBox(i) {
  const { sealed } = await boxFor(i, i.number);
  const plain = await openSeal(fromHex(i.box_key), "device-box", i, sealed);
  require(plain.length > 32 + 448);
  const ring = readRing(plain.subarray(480)), [epoch, newest] = ring.at(-1);
  require(epoch === i.epoch && toHex(await check(fromHex(newest), i)) === i.check);
  const sharing = toHex(await sha256(readSharing(plain.subarray(32, 480)).both));
  return { next: toHex(plain.subarray(0, 32)), sharing, ring };
}

async function readListing(i) {
  const key = fromHex(i.link_key), bytes = fromHex(i.listing);
  require(toHex(bytes.subarray(0, 32)) === toHex(await kdf(key, "commit", fromUuid(i.share))));
  const reader = new Reader(await openSeal(key, "listing", i, bytes.subarray(32)));
  const head = {
    space: toUuid(reader.take(16)), path: reader.text(4096), size: reader.v(), hash: toHex(reader.take(32)),
  };
  const count = reader.v(), keys = [];
  require(count > 0 && count * 115 <= reader.rest().length);
  const chunks = Array.from({ length: count }, () => {
    require(reader.u8() === 0x63);
    const at = { node: toUuid(reader.take(16)), epoch: reader.v(), id: toHex(reader.take(32)) };
    keys.push(reader.take(32));
    return { ...at, length: reader.v(), hash: toHex(reader.take(32)) };
  });
  reader.end();
  require(chunks.reduce((sum, chunk) => sum + chunk.length, 0) === head.size);
  return { listing: { ...head, chunks, sealed_hash: toHex(await sha256(bytes)) }, keys };
}

async function openListedChunk(i) {
  const { listing, keys } = await readListing(i);
  const plain = await openListed(listing.space, listing.chunks[i.chunk], keys[i.chunk], fromHex(i.sealed));
  return { plain: toHex(plain) };
}

export const operations = {
  root,
  words,
  token,
  acceptance,
  open_account: openAccount,
  open_account_with_recovery: openAccountWithRecovery,
  open_ring: openRing,
  open_grant: openGrant,
  open_team_epoch: openTeamEpoch,
  open_device_box: openDeviceBox,
  open_listing: async (i) => (await readListing(i)).listing,
  open_listed_chunk: openListedChunk,
};
