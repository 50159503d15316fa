// ML-KEM-768 (FIPS 203), decapsulation from a seed: enough to check a grant a second time.

import { createHash } from "node:crypto";
import { join } from "./bytes.mjs";

const Q = 3329, N = 256, K = 3, DU = 10, DV = 4;

const hash = (name, outputLength) => (...parts) =>
  new Uint8Array(createHash(name, outputLength && { outputLength }).update(join(...parts)).digest());
const H = hash("sha3-256"), G = hash("sha3-512"), J = hash("shake256", 32);
const XOF = hash("shake128", 2048), PRF = hash("shake256", 128);

const reversed = (n) => parseInt(n.toString(2).padStart(7, "0").split("").reverse().join(""), 2);
const power = (exponent) => {
  let value = 1;
  for (let n = 0; n < exponent; n++) value = (value * 17) % Q;
  return value;
};
const ZETAS = Array.from({ length: 128 }, (_, n) => power(reversed(n)));
const GAMMAS = Array.from({ length: 128 }, (_, n) => power(2 * reversed(n) + 1));

function ntt(poly) {
  const f = [...poly];
  let at = 1;
  for (let length = 128; length >= 2; length /= 2) {
    for (let start = 0; start < N; start += 2 * length) {
      const zeta = ZETAS[at++];
      for (let n = start; n < start + length; n++) {
        const t = (zeta * f[n + length]) % Q;
        f[n + length] = (f[n] - t + Q) % Q;
        f[n] = (f[n] + t) % Q;
      }
    }
  }
  return f;
}

function inverseNtt(poly) {
  const f = [...poly];
  let at = 127;
  for (let length = 2; length <= 128; length *= 2) {
    for (let start = 0; start < N; start += 2 * length) {
      const zeta = ZETAS[at--];
      for (let n = start; n < start + length; n++) {
        const t = f[n];
        f[n] = (t + f[n + length]) % Q;
        f[n + length] = (zeta * (f[n + length] - t + Q)) % Q;
      }
    }
  }
  return f.map((value) => (value * 3303) % Q);
}

function multiply(a, b) {
  const out = new Array(N);
  for (let n = 0; n < 128; n++) {
    const [a0, a1, b0, b1] = [a[2 * n], a[2 * n + 1], b[2 * n], b[2 * n + 1]];
    out[2 * n] = (a0 * b0 + ((a1 * b1) % Q) * GAMMAS[n]) % Q;
    out[2 * n + 1] = (a0 * b1 + a1 * b0) % Q;
  }
  return out;
}

const add = (a, b) => a.map((value, n) => (value + b[n]) % Q);
const subtract = (a, b) => a.map((value, n) => (value - b[n] + Q) % Q);
const dot = (a, b) => a.map((poly, n) => multiply(poly, b[n])).reduce(add);

function bitsOf(bytes, width) {
  return Array.from({ length: (bytes.length * 8) / width }, (_, n) => {
    let value = 0;
    for (let bit = 0; bit < width; bit++) {
      const at = n * width + bit;
      value |= ((bytes[at >> 3] >> (at & 7)) & 1) << bit;
    }
    return value;
  });
}

function bytesOf(values, width) {
  const out = new Uint8Array((values.length * width) / 8);
  values.forEach((value, n) => {
    for (let bit = 0; bit < width; bit++) {
      const at = n * width + bit;
      out[at >> 3] |= ((value >> bit) & 1) << (at & 7);
    }
  });
  return out;
}

const compress = (poly, width) => poly.map((x) => Math.floor((x * 2 ** width + 1664) / Q) % 2 ** width);
const decompress = (poly, width) => poly.map((y) => (y * Q + 2 ** (width - 1)) >> width);

function uniform(rho, i, j) {
  const stream = XOF(rho, [j, i]), out = [];
  for (let at = 0; out.length < N; at += 3) {
    const [a, b, c] = stream.subarray(at, at + 3);
    for (const value of [a + 256 * (b % 16), (b >> 4) + 16 * c]) {
      if (value < Q && out.length < N) out.push(value);
    }
  }
  return out;
}

function small(seed, counter) {
  const bits = bitsOf(PRF(seed, [counter]), 1);
  return Array.from({ length: N }, (_, n) => {
    const [a, b, c, d] = bits.slice(4 * n, 4 * n + 4);
    return (a + b - c - d + Q) % Q;
  });
}

const vector = (make) => Array.from({ length: K }, (_, n) => make(n));

/** The key pair of a seed d || z. */
export function keyPair(seed) {
  const stream = G(seed.subarray(0, 32), [K]);
  const [rho, sigma] = [stream.subarray(0, 32), stream.subarray(32)];
  const s = vector((n) => ntt(small(sigma, n))), e = vector((n) => ntt(small(sigma, K + n)));
  const t = vector((i) => add(dot(vector((j) => uniform(rho, i, j)), s), e[i]));
  const publicKey = join(...t.map((poly) => bytesOf(poly, 12)), rho);
  return { s, publicKey, z: seed.subarray(32) };
}

function encrypt(publicKey, message, random) {
  const rho = publicKey.subarray(K * 384);
  const t = vector((n) => bitsOf(publicKey.subarray(384 * n, 384 * (n + 1)), 12));
  const y = vector((n) => ntt(small(random, n)));
  const u = vector((i) =>
    add(inverseNtt(dot(vector((j) => uniform(rho, j, i)), y)), small(random, K + i)),
  );
  const noisy = add(inverseNtt(dot(t, y)), small(random, 2 * K));
  const v = add(noisy, decompress(bitsOf(message, 1), 1));
  return join(...u.map((poly) => bytesOf(compress(poly, DU), DU)), bytesOf(compress(v, DV), DV));
}

/** The shared secret of a ciphertext; one that isn't genuine gives another secret. */
export function decapsulate({ s, publicKey, z }, ciphertext) {
  const width = 32 * DU;
  const u = vector((n) => decompress(bitsOf(ciphertext.subarray(width * n, width * (n + 1)), DU), DU));
  const v = decompress(bitsOf(ciphertext.subarray(width * K), DV), DV);
  const noisy = subtract(v, inverseNtt(dot(s, u.map(ntt))));
  const message = bytesOf(compress(noisy, 1), 1);
  const both = G(message, H(publicKey));
  const again = encrypt(publicKey, message, both.subarray(32));
  return Buffer.compare(again, ciphertext) === 0 ? both.subarray(0, 32) : J(z, ciphertext);
}

/** A ciphertext and its secret, from 32 random bytes. */
export function encapsulate(publicKey, random) {
  const both = G(random, H(publicKey));
  return { ciphertext: encrypt(publicKey, random, both.subarray(32)), secret: both.subarray(0, 32) };
}
