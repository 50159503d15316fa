// Tables of finite state entropy, and bits that are read from the end: parts of zstd (RFC 8878, section 4.1).

function wrong() {
  throw new RangeError("bits that no table has");
}

/** Bits from the end of a run of bytes to its start; the highest bit that is set in the last byte ends them. */
export class Backward {
  constructor(bytes, start, end) {
    if (end <= start || bytes[end - 1] === 0) wrong();
    this.bytes = bytes;
    this.start = start;
    this.left = (end - start) * 8 - (Math.clz32(bytes[end - 1]) - 24) - 1;
  }

  // Up to 25 bits, which lie in four bytes.
  at(position, count) {
    const first = this.start + (position >> 3);
    const b = this.bytes;
    const word = b[first] | (b[first + 1] << 8) | (b[first + 2] << 16) | (b[first + 3] << 24);
    return (word >>> (position & 7)) & ((1 << count) - 1);
  }

  /** Takes the next bits. */
  read(count) {
    this.left -= count;
    if (this.left < 0) wrong();
    return count === 0 ? 0 : this.at(this.left, count);
  }

  /** Looks at the next bits; zeros follow the last one. */
  peek(count) {
    return this.left >= count ? this.at(this.left - count, count) : this.at(0, this.left) << (count - this.left);
  }
}

const highest = (value) => 31 - Math.clz32(value);

/** Reads the counts of a table's symbols, up to `most`, and builds it. */
export function readTable(bytes, start, most, maxLog, end = bytes.length) {
  let position = start * 8;
  const read = (count) => {
    let value = 0;
    for (let n = 0; n < count; n++, position++) {
      if (position >> 3 >= end) wrong();
      value |= ((bytes[position >> 3] >> (position & 7)) & 1) << n;
    }
    return value;
  };
  const log = read(4) + 5;
  if (log > maxLog) wrong();
  const counts = [];
  let remaining = 1 << log;
  while (remaining > 0) {
    if (counts.length > most) wrong();
    const wide = highest(remaining + 1) + 1, mask = 2 ** (wide - 1) - 1, limit = 2 ** wide - 2 - remaining;
    // One bit less tells the smaller values.
    let value = read(wide - 1);
    if (value >= limit) {
      value += read(1) << (wide - 1);
      if (value > mask) value -= limit;
    }
    const count = value - 1;
    remaining -= Math.abs(count);
    counts.push(count);
    for (let more = count === 0; more; ) {
      const zeros = read(2);
      for (let n = 0; n < zeros; n++) counts.push(0);
      more = zeros === 3;
    }
  }
  if (remaining !== 0 || counts.length > most + 1) wrong();
  return { table: buildTable(log, counts), at: (position + 7) >> 3 };
}

/** Builds a table of 2^log states of how often each symbol comes; -1 is less than once. */
export function buildTable(log, counts) {
  const size = 1 << log, symbols = new Uint8Array(size), next = new Uint16Array(counts.length);
  let high = size;
  counts.forEach((count, symbol) => {
    next[symbol] = Math.abs(count);
    if (count === -1) symbols[--high] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let place = 0;
  counts.forEach((count, symbol) => {
    for (let n = 0; n < count; n++) {
      symbols[place] = symbol;
      do place = (place + step) & (size - 1);
      while (place >= high);
    }
  });
  if (place !== 0) wrong();
  const bits = new Uint8Array(size), bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const of = next[symbols[state]]++;
    bits[state] = log - highest(of);
    bases[state] = (of << bits[state]) - size;
  }
  return { log, symbols, bits, bases };
}
