// Argon2id (RFC 9106), version 1.3, with 32 bytes of output. Numbers of 64 bits are two halves, the low
// one first.

import { createHash } from "node:crypto";
import { join } from "./bytes.mjs";

const little = (value) => {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, value, true);
  return out;
};
const blake2b = (...parts) => new Uint8Array(createHash("blake2b512").update(join(...parts)).digest());

// BLAKE2b with another length than 64 bytes (RFC 7693): the last step alone needs it.
const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
function blake2b256(message) {
  const orders = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
  ];
  const wrap = (value) => BigInt.asUintN(64, value);
  const rotate = (value, by) => wrap((value >> by) | (value << (64n - by)));
  const state = [...IV];
  state[0] ^= 0x01010020n;
  for (let at = 0; at < message.length; at += 128) {
    const block = new Uint8Array(128);
    block.set(message.subarray(at, at + 128));
    const view = new DataView(block.buffer);
    const words = Array.from({ length: 16 }, (_, n) => view.getBigUint64(8 * n, true));
    const v = [...state, ...IV];
    v[12] ^= BigInt(Math.min(at + 128, message.length));
    if (at + 128 >= message.length) v[14] = wrap(~v[14]);
    const mix = (a, b, c, d, x, y) => {
      v[a] = wrap(v[a] + v[b] + x);
      v[d] = rotate(v[d] ^ v[a], 32n);
      v[c] = wrap(v[c] + v[d]);
      v[b] = rotate(v[b] ^ v[c], 24n);
      v[a] = wrap(v[a] + v[b] + y);
      v[d] = rotate(v[d] ^ v[a], 16n);
      v[c] = wrap(v[c] + v[d]);
      v[b] = rotate(v[b] ^ v[c], 63n);
    };
    for (let round = 0; round < 12; round++) {
      const order = orders[round % 10];
      const quarters = [
        [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
        [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
      ];
      quarters.forEach((q, n) => mix(...q, words[order[2 * n]], words[order[2 * n + 1]]));
    }
    for (let n = 0; n < 8; n++) state[n] ^= v[n] ^ v[n + 8];
  }
  const out = new DataView(new ArrayBuffer(32));
  for (let n = 0; n < 4; n++) out.setBigUint64(8 * n, state[n], true);
  return new Uint8Array(out.buffer);
}

// The hash of variable length (section 3.3), for a block of 1,024 bytes.
function blockHash(...parts) {
  let value = blake2b(little(1024), ...parts);
  const out = [value.subarray(0, 32)];
  for (let n = 0; n < 30; n++) {
    value = blake2b(value);
    out.push(n === 29 ? value : value.subarray(0, 32));
  }
  return join(...out);
}

const WORDS = 256;

// BlaMka: a = a + b + 2 * low(a) * low(b); the carry and the high half are left in `high`.
let high = 0;
function sum(al, ah, bl, bh) {
  const a0 = al & 0xffff, a1 = al >>> 16, b0 = bl & 0xffff, b1 = bl >>> 16;
  const middle = a0 * b1 + ((a0 * b0) >>> 16);
  const other = a1 * b0 + (middle & 0xffff);
  const top = a1 * b1 + Math.floor(middle / 65_536) + Math.floor(other / 65_536);
  const low = Math.imul(al, bl) >>> 0;
  const total = al + bl + ((low << 1) >>> 0);
  high = (ah + bh + (((top << 1) | (low >>> 31)) >>> 0) + Math.floor(total / 4_294_967_296)) >>> 0;
  return total >>> 0;
}

function mix(v, a, b, c, d) {
  let al = v[a], ah = v[a + 1], bl = v[b], bh = v[b + 1], cl = v[c], ch = v[c + 1], x, y;
  let dl = v[d], dh = v[d + 1];
  al = sum(al, ah, bl, bh); ah = high;
  x = dl ^ al; y = dh ^ ah;
  dl = y >>> 0; dh = x >>> 0;
  cl = sum(cl, ch, dl, dh); ch = high;
  x = bl ^ cl; y = bh ^ ch;
  bl = ((x >>> 24) | (y << 8)) >>> 0; bh = ((y >>> 24) | (x << 8)) >>> 0;
  al = sum(al, ah, bl, bh); ah = high;
  x = dl ^ al; y = dh ^ ah;
  dl = ((x >>> 16) | (y << 16)) >>> 0; dh = ((y >>> 16) | (x << 16)) >>> 0;
  cl = sum(cl, ch, dl, dh); ch = high;
  x = bl ^ cl; y = bh ^ ch;
  bl = ((y >>> 31) | (x << 1)) >>> 0; bh = ((x >>> 31) | (y << 1)) >>> 0;
  v[a] = al; v[a + 1] = ah; v[b] = bl; v[b + 1] = bh;
  v[c] = cl; v[c + 1] = ch; v[d] = dl; v[d + 1] = dh;
}

// The permutation over 16 words, at `start` and every `step` pairs of words behind it.
function permute(v, start, step) {
  const at = PLACES;
  for (let n = 0; n < 8; n++) {
    at[2 * n] = start + n * step;
    at[2 * n + 1] = start + n * step + 2;
  }
  for (let n = 0; n < 4; n++) mix(v, at[n], at[4 + n], at[8 + n], at[12 + n]);
  for (let n = 0; n < 4; n++) mix(v, at[n], at[4 + ((n + 1) & 3)], at[8 + ((n + 2) & 3)], at[12 + ((n + 3) & 3)]);
}

const PLACES = new Int32Array(16), mixed = new Uint32Array(WORDS), before = new Uint32Array(WORDS);

// The compression of two blocks into `memory` at `out`; `keeps` adds what stands there.
function compress(memory, out, x, xAt, y, yAt, keeps) {
  for (let n = 0; n < WORDS; n++) {
    const value = x[xAt + n] ^ y[yAt + n];
    mixed[n] = value;
    before[n] = keeps ? value ^ memory[out + n] : value;
  }
  for (let row = 0; row < 8; row++) permute(mixed, 32 * row, 4);
  for (let column = 0; column < 8; column++) permute(mixed, 4 * column, 32);
  for (let n = 0; n < WORDS; n++) memory[out + n] = mixed[n] ^ before[n];
}

/** Argon2id; memory in KiB. */
export function argon2id(password, salt, { memory: kib, passes, lanes }) {
  const seed = blake2b(
    little(lanes), little(32), little(kib), little(passes), little(0x13), little(2),
    little(password.length), password, little(salt.length), salt, little(0), little(0),
  );
  const segment = Math.floor(kib / (4 * lanes)), length = 4 * segment, count = length * lanes;
  const memory = new Uint32Array(count * WORDS);
  for (let lane = 0; lane < lanes; lane++) {
    for (let n = 0; n < 2; n++) {
      const block = new DataView(blockHash(seed, little(n), little(lane)).buffer);
      const start = (lane * length + n) * WORDS;
      for (let word = 0; word < WORDS; word++) memory[start + word] = block.getUint32(4 * word, true);
    }
  }
  for (let pass = 0; pass < passes; pass++) {
    for (let slice = 0; slice < 4; slice++) {
      for (let lane = 0; lane < lanes; lane++) {
        fill(memory, { pass, slice, lane, segment, length, lanes, count, passes });
      }
    }
  }
  const last = new Uint8Array(1024), view = new DataView(last.buffer);
  for (let word = 0; word < WORDS; word++) {
    let value = 0;
    for (let lane = 0; lane < lanes; lane++) value ^= memory[((lane + 1) * length - 1) * WORDS + word];
    view.setUint32(4 * word, value >>> 0, true);
  }
  return blake2b256(join(little(32), last));
}

function fill(memory, { pass, slice, lane, segment, length, lanes, count, passes }) {
  const foretold = pass === 0 && slice < 2;
  const input = new Uint32Array(WORDS), addresses = new Uint32Array(WORDS), zero = new Uint32Array(WORDS);
  [pass, lane, slice, count, passes, 2].forEach((value, n) => (input[2 * n] = value));
  const next = () => {
    input[12]++;
    compress(addresses, 0, zero, 0, input, 0, false);
    compress(addresses, 0, zero, 0, addresses.slice(), 0, false);
  };
  const first = pass === 0 && slice === 0 ? 2 : 0;
  if (foretold && first > 0) next();
  for (let n = first; n < segment; n++) {
    const at = slice * segment + n, previous = (at + length - 1) % length;
    if (foretold && n % 128 === 0) next();
    const source = foretold ? addresses : memory;
    const word = foretold ? 2 * (n % 128) : (lane * length + previous) * WORDS;
    const [low, top] = [source[word], source[word + 1]];
    const other = pass === 0 && slice === 0 ? lane : top % lanes;
    const done = pass === 0 ? slice * segment : length - segment;
    const area = other === lane ? done + n - 1 : done - (n === 0 ? 1 : 0);
    const x = Number((BigInt(low) * BigInt(low)) >> 32n);
    const back = Number((BigInt(area) * BigInt(x)) >> 32n);
    const start = pass === 0 || slice === 3 ? 0 : (slice + 1) * segment;
    const found = (start + area - 1 - back) % length;
    const place = (lane * length + at) * WORDS;
    compress(
      memory, place, memory, (lane * length + previous) * WORDS, memory, (other * length + found) * WORDS, pass > 0,
    );
  }
}
