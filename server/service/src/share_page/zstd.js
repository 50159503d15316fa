// Opens one zstd frame (RFC 8878) into a buffer of a length that is known before. Whatever the frame says,
// nothing grows beyond that buffer, and each loop ends with the bytes that it reads or writes.
//
// What clients never write is refused: dictionaries, checksums, frames that hide their size.

import { Backward, buildTable, readTable } from "./fse.js";
import { readTree } from "./huffman.js";

const BLOCK = 128 * 1024;
const LITERALS = 35, OFFSETS = 31, MATCHES = 52;

// The values that stand for lengths, and how many bits follow them.
const LITERAL_BITS = [...Array(16).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_BITS = [...Array(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

function bases(bits, first) {
  const out = [];
  let base = first;
  for (const wide of bits) {
    out.push(base);
    base += 2 ** wide;
  }
  return out;
}

const LITERAL_BASE = bases(LITERAL_BITS, 0), MATCH_BASE = bases(MATCH_BITS, 3);

const ones = (count, value = 1) => Array(count).fill(value);
const DEFAULTS = {
  literals: [6, [4, 3, ...ones(11, 2), 1, 1, 1, ...ones(9, 2), 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]],
  offsets: [5, [...ones(6), 2, 2, 2, ...ones(15), ...ones(5, -1)]],
  matches: [6, [1, 4, 3, ...ones(6, 2), ...ones(37), ...ones(7, -1)]],
};

function wrong() {
  throw new RangeError("no frame of the expected length");
}

/** Opens a frame at the start of `bytes` to `length` bytes; `end` is the length of the frame. */
export function decompress(bytes, length) {
  const { at, blockMax } = header(bytes, length);
  const frame = { out: new Uint8Array(length), written: 0, repeats: [1, 4, 8], tables: {}, tree: null };
  let next = at;
  for (let last = false; !last; ) {
    if (next + 3 > bytes.length) wrong();
    const head = bytes[next] | (bytes[next + 1] << 8) | (bytes[next + 2] << 16);
    const type = (head >> 1) & 3, size = head >> 3;
    last = (head & 1) === 1;
    next += 3;
    const stored = type === 1 ? 1 : size;
    if (next + stored > bytes.length || type === 3 || (type !== 1 && size > blockMax)) wrong();
    const block = bytes.subarray(next, next + stored);
    if (type === 2) compressed(frame, block);
    else if (frame.written + size > length) wrong();
    else {
      if (type === 0) frame.out.set(block, frame.written);
      else frame.out.fill(block[0], frame.written, frame.written + size);
      frame.written += size;
    }
    next += stored;
  }
  if (frame.written !== length) wrong();
  return { plain: frame.out, end: next };
}

function header(bytes, length) {
  if (bytes.length < 6 || bytes[0] !== 0x28 || bytes[1] !== 0xb5 || bytes[2] !== 0x2f || bytes[3] !== 0xfd) wrong();
  const flags = bytes[4], isSingle = (flags & 0x20) !== 0;
  // A checksum, and a bit that has no meaning yet.
  if ((flags & 0x0c) !== 0) wrong();
  let at = 5, window = 0;
  if (!isSingle) {
    const log = 10 + (bytes[at] >> 3);
    if (log > 31) wrong();
    window = 2 ** log + (2 ** log / 8) * (bytes[at++] & 7);
  }
  for (let left = [0, 1, 2, 4][flags & 3]; left > 0; left--) if (bytes[at++] !== 0) wrong();
  const wide = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6];
  if (wide === 0 || at + wide > bytes.length) wrong();
  let size = wide === 2 ? 256 : 0;
  for (let n = 0; n < wide; n++) size += bytes[at + n] * 2 ** (8 * n);
  if (size !== length) wrong();
  return { at: at + wide, blockMax: Math.min(isSingle ? size : window, BLOCK) };
}

function compressed(frame, block) {
  const [literals, at] = readLiterals(frame, block);
  let next = at;
  if (next >= block.length) wrong();
  let count = block[next++];
  if (count === 0) {
    if (next !== block.length) wrong();
    return append(frame, literals, 0, literals.length);
  }
  if (count === 255) {
    count = block[next] + (block[next + 1] << 8) + 0x7f00;
    next += 2;
  } else if (count > 127) count = ((count - 128) << 8) + block[next++];
  const modes = block[next++];
  if (next > block.length || (modes & 3) !== 0) wrong();
  const table = (name, mode, most, maxLog) => {
    const read = chooseTable(frame.tables[name], DEFAULTS[name], mode & 3, block, next, most, maxLog);
    next = read.at;
    return (frame.tables[name] = read.table);
  };
  const tables = {
    literals: table("literals", modes >> 6, LITERALS, 9),
    offsets: table("offsets", modes >> 4, OFFSETS, 8),
    matches: table("matches", modes >> 2, MATCHES, 9),
  };
  sequences(frame, literals, new Backward(block, next, block.length), tables, count);
}

function chooseTable(before, preset, mode, block, at, most, maxLog) {
  if (mode === 0) return { table: buildTable(...preset), at };
  if (mode === 2) return readTable(block, at, most, maxLog);
  if (mode === 3) return before ? { table: before, at } : wrong();
  if (at >= block.length || block[at] > most) wrong();
  const one = { log: 0, symbols: Uint8Array.of(block[at]), bits: Uint8Array.of(0), bases: Uint16Array.of(0) };
  return { table: one, at: at + 1 };
}

function append(frame, from, start, end) {
  if (end > from.length || frame.written + end - start > frame.out.length) wrong();
  frame.out.set(from.subarray(start, end), frame.written);
  frame.written += end - start;
}

function sequences(frame, literals, bits, tables, count) {
  const { literals: lt, offsets: ot, matches: mt } = tables;
  let ls = bits.read(lt.log), os = bits.read(ot.log), ms = bits.read(mt.log), used = 0;
  for (let n = 0; n < count; n++) {
    const wide = ot.symbols[os], match = mt.symbols[ms], literal = lt.symbols[ls];
    // A longer way back than 2^24 leads out of every chunk.
    if (wide > 24) wrong();
    const value = 2 ** wide + bits.read(wide);
    const length = MATCH_BASE[match] + bits.read(MATCH_BITS[match]);
    const plain = LITERAL_BASE[literal] + bits.read(LITERAL_BITS[literal]);
    if (n + 1 < count) {
      ls = lt.bases[ls] + bits.read(lt.bits[ls]);
      ms = mt.bases[ms] + bits.read(mt.bits[ms]);
      os = ot.bases[os] + bits.read(ot.bits[os]);
    }
    append(frame, literals, used, used + plain);
    used += plain;
    repeat(frame, wayBack(frame.repeats, value, plain === 0), length);
  }
  if (bits.left !== 0) wrong();
  append(frame, literals, used, literals.length);
}

// The three latest ways back have names of their own.
function wayBack(repeats, value, noLiterals) {
  const which = value > 3 ? 3 : value - 1 + (noLiterals ? 1 : 0);
  if (value <= 3 && which === 0) return repeats[0];
  const back = value > 3 ? value - 3 : which < 3 ? repeats[which] : repeats[0] - 1;
  if (which > 1) repeats[2] = repeats[1];
  repeats[1] = repeats[0];
  repeats[0] = back;
  return back;
}

function repeat(frame, back, length) {
  const { out, written } = frame;
  if (back < 1 || back > written || written + length > out.length) wrong();
  // What is copied may be part of what the copy makes.
  if (back >= length) out.copyWithin(written, written - back, written - back + length);
  else for (let n = written; n < written + length; n++) out[n] = out[n - back];
  frame.written += length;
}

function readLiterals(frame, block) {
  if (block.length < 1) wrong();
  const type = block[0] & 3, format = (block[0] >> 2) & 3;
  const wide = type < 2 ? [1, 2, 1, 3][format] : [3, 3, 4, 5][format];
  if (wide > block.length) wrong();
  let head = 0;
  for (let n = 0; n < wide; n++) head += block[n] * 2 ** (8 * n);
  if (type < 2) {
    const size = Math.floor(head / (wide === 1 ? 8 : 16));
    const stored = type === 0 ? size : 1;
    if (size > BLOCK || wide + stored > block.length) wrong();
    const literals = type === 0 ? block.subarray(wide, wide + size) : new Uint8Array(size).fill(block[wide]);
    return [literals, wide + stored];
  }
  const bits = [10, 10, 14, 18][format];
  const size = Math.floor(head / 16) % 2 ** bits, stored = Math.floor(head / 2 ** (4 + bits));
  const end = wide + stored;
  if (size > BLOCK || end > block.length) wrong();
  let at = wide;
  if (type === 2) [frame.tree, at] = readTree(block, at, end);
  if (!frame.tree) wrong();
  const literals = new Uint8Array(size);
  if (format === 0) frame.tree.decode(block, at, end, literals);
  else fourStreams(frame.tree, block, at, end, literals);
  return [literals, end];
}

function fourStreams(tree, block, at, end, literals) {
  if (at + 6 > end || literals.length < 6) wrong();
  const part = Math.floor((literals.length + 3) / 4);
  let from = at + 6;
  for (let n = 0; n < 4; n++) {
    const to = n < 3 ? from + (block[at + 2 * n] | (block[at + 2 * n + 1] << 8)) : end;
    if (to > end || (n + 1) * part > literals.length + 3) wrong();
    tree.decode(block, from, to, literals.subarray(n * part, n < 3 ? (n + 1) * part : literals.length));
    from = to;
  }
}
