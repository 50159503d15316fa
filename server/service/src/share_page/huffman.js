// Huffman trees and what was written with them: a part of zstd (RFC 8878, section 4.2).

import { Backward, readTable } from "./fse.js";

const MAX_BITS = 12;

function wrong() {
  throw new RangeError("no tree, or bits that it has not");
}

class Tree {
  constructor(wide, symbols, bits) {
    this.wide = wide;
    this.symbols = symbols;
    this.bits = bits;
  }

  /** Fills `out` from a stream that ends where it does. */
  decode(bytes, start, end, out) {
    const stream = new Backward(bytes, start, end), { wide, symbols, bits } = this;
    for (let n = 0; n < out.length; n++) {
      const code = stream.peek(wide);
      out[n] = symbols[code];
      stream.left -= bits[code];
      if (stream.left < 0) wrong();
    }
    if (stream.left !== 0) wrong();
  }
}

/** Reads the weights of a tree, and returns it with the place behind them. */
export function readTree(bytes, start, limit) {
  if (start >= limit) wrong();
  const head = bytes[start], at = start + 1;
  const end = at + (head < 128 ? head : (head - 126) >> 1);
  if (end > limit) wrong();
  const weights = head < 128 ? packedWeights(bytes, at, end) : [];
  for (let n = 0; head >= 128 && n < head - 127; n++) {
    weights.push(n % 2 === 0 ? bytes[at + (n >> 1)] >> 4 : bytes[at + (n >> 1)] & 15);
  }
  return [build(weights), end];
}

// Two states take turns, until there are no bits for the next one.
function packedWeights(bytes, start, end) {
  const { table, at } = readTable(bytes, start, 255, 6, end);
  const stream = new Backward(bytes, at, end), weights = [];
  const states = [stream.read(table.log), stream.read(table.log)];
  for (let turn = 0; ; turn ^= 1) {
    weights.push(table.symbols[states[turn]]);
    if (weights.length > 254) wrong();
    const wide = table.bits[states[turn]];
    if (wide > stream.left) {
      weights.push(table.symbols[states[turn ^ 1]]);
      return weights;
    }
    states[turn] = table.bases[states[turn]] + stream.read(wide);
  }
}

function build(weights) {
  let sum = 0;
  for (const weight of weights) {
    if (weight > MAX_BITS) wrong();
    sum += weight === 0 ? 0 : 1 << (weight - 1);
  }
  if (sum === 0 || weights.length > 255) wrong();
  const wide = 32 - Math.clz32(sum), left = (1 << wide) - sum;
  // The last weight is what is missing: a power of two.
  if (wide > MAX_BITS || (left & (left - 1)) !== 0) wrong();
  const all = [...weights, 32 - Math.clz32(left)];
  const lowest = all.filter((weight) => weight === 1).length;
  if (lowest < 2 || lowest % 2 !== 0) wrong();
  const symbols = new Uint8Array(1 << wide), bits = new Uint8Array(1 << wide);
  let place = 0;
  // The longest codes first: those of the least weight.
  for (let weight = 1; weight <= wide; weight++) {
    all.forEach((own, symbol) => {
      if (own !== weight) return;
      const count = 1 << (weight - 1);
      symbols.fill(symbol, place, place + count);
      bits.fill(wide + 1 - weight, place, place + count);
      place += count;
    });
  }
  return new Tree(wide, symbols, bits);
}
