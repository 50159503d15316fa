// BLAKE3, keyed and plain, of bytes that are in memory. https://github.com/BLAKE3-team/BLAKE3-specs
//
// Chunk ids are BLAKE3 under a key of the file's content key, and the browser has none of its own.

const IV = new Uint32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
const CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8, KEYED = 16;
const CHUNK = 1024, BLOCK = 64;

// The order in which each of the seven rounds reads the message words.
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS = [Array.from({ length: 16 }, (_, i) => i)];
for (let i = 1; i < 7; i++) ROUNDS.push(PERMUTATION.map((at) => ROUNDS[i - 1][at]));
const SCHEDULE = new Uint8Array(ROUNDS.flat());

const v = new Uint32Array(16);

function g(a, b, c, d, x, y) {
  let va = v[a], vb = v[b], vc = v[c], vd = v[d];
  va = (va + vb + x) | 0; vd ^= va; vd = (vd >>> 16) | (vd << 16);
  vc = (vc + vd) | 0; vb ^= vc; vb = (vb >>> 12) | (vb << 20);
  va = (va + vb + y) | 0; vd ^= va; vd = (vd >>> 8) | (vd << 24);
  vc = (vc + vd) | 0; vb ^= vc; vb = (vb >>> 7) | (vb << 25);
  v[a] = va; v[b] = vb; v[c] = vc; v[d] = vd;
}

// Compresses 16 words at `at` of `m`; the first eight words of the result go to `out`.
function compress(cv, m, at, counter, length, flags, out) {
  v.set(cv, 0);
  v[8] = IV[0]; v[9] = IV[1]; v[10] = IV[2]; v[11] = IV[3];
  v[12] = counter; v[13] = Math.floor(counter / 0x100000000); v[14] = length; v[15] = flags;
  for (let round = 0; round < 112; round += 16) {
    const s = SCHEDULE, r = round;
    g(0, 4, 8, 12, m[at + s[r]], m[at + s[r + 1]]);
    g(1, 5, 9, 13, m[at + s[r + 2]], m[at + s[r + 3]]);
    g(2, 6, 10, 14, m[at + s[r + 4]], m[at + s[r + 5]]);
    g(3, 7, 11, 15, m[at + s[r + 6]], m[at + s[r + 7]]);
    g(0, 5, 10, 15, m[at + s[r + 8]], m[at + s[r + 9]]);
    g(1, 6, 11, 12, m[at + s[r + 10]], m[at + s[r + 11]]);
    g(2, 7, 8, 13, m[at + s[r + 12]], m[at + s[r + 13]]);
    g(3, 4, 9, 14, m[at + s[r + 14]], m[at + s[r + 15]]);
  }
  for (let i = 0; i < 8; i++) out[i] = v[i] ^ v[i + 8];
}

// Little-endian words of up to 64 bytes, zeros behind them.
function words(bytes, from, length, out) {
  out.fill(0);
  for (let i = 0; i < length; i++) out[i >> 2] |= bytes[from + i] << (8 * (i & 3));
}

function littleEndian(cv) {
  const out = new Uint8Array(32);
  for (let i = 0; i < 32; i++) out[i] = cv[i >> 2] >>> (8 * (i & 3));
  return out;
}

function hashWith(key, flags, bytes) {
  const block = new Uint32Array(16), pair = new Uint32Array(16);
  const stack = [];
  const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK));
  let cv = new Uint32Array(8);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const start = chunk * CHUNK, end = Math.min(start + CHUNK, bytes.length);
    const blocks = Math.max(1, Math.ceil((end - start) / BLOCK));
    cv = Uint32Array.from(key);
    for (let i = 0; i < blocks; i++) {
      const from = start + i * BLOCK, length = Math.min(BLOCK, end - from);
      words(bytes, from, length, block);
      let f = flags;
      if (i === 0) f |= CHUNK_START;
      if (i === blocks - 1) f |= CHUNK_END;
      if (i === blocks - 1 && chunks === 1) f |= ROOT;
      compress(cv, block, 0, chunk, length, f, cv);
    }
    if (chunk === chunks - 1) break;
    // A left subtree is whole for each trailing zero bit of the number of chunks so far.
    for (let total = chunk + 1; (total & 1) === 0; total >>>= 1) cv = parent(stack.pop(), cv, 0);
    stack.push(cv);
  }
  while (stack.length > 0) cv = parent(stack.pop(), cv, stack.length === 0 ? ROOT : 0);
  return littleEndian(cv);

  function parent(left, right, root) {
    const out = new Uint32Array(8);
    pair.set(left, 0);
    pair.set(right, 8);
    compress(key, pair, 0, 0, BLOCK, flags | PARENT | root, out);
    return out;
  }
}

/** BLAKE3 of bytes: 32 bytes. */
export function hash(bytes) {
  return hashWith(IV, 0, bytes);
}

/** BLAKE3 of bytes under a key of 32 bytes. */
export function keyedHash(key, bytes) {
  const keyWords = new Uint32Array(16);
  words(key, 0, 32, keyWords);
  return hashWith(keyWords.slice(0, 8), KEYED, bytes);
}
