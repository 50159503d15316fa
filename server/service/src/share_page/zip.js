// A zip archive of stored files, written as the bytes come: APPNOTE.TXT 6.3.10, with ZIP64 records
// where a number does not fit into 32 bits.

const utf8 = new TextEncoder();
const MAX32 = 0xffffffff, MAX16 = 0xffff;
// Sizes and CRC follow the data; names are UTF-8.
const FLAGS = (1 << 3) | (1 << 11);

const TABLE = new Uint32Array(256);
for (let i = 0; i < 256; i++) {
  let c = i;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  TABLE[i] = c;
}

/** CRC-32 of more bytes after those that gave `crc`. */
export function crc32(bytes, crc = 0) {
  let c = ~crc;
  for (let i = 0; i < bytes.length; i++) c = TABLE[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

// Numbers, each with its width in bytes, little-endian.
function record(...fields) {
  const out = new Uint8Array(fields.reduce((sum, [width]) => sum + width, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 2) view.setUint16(at, value, true);
    if (width === 4) view.setUint32(at, value, true);
    if (width === 8) view.setBigUint64(at, BigInt(value), true);
    at += width;
  }
  return out;
}

function dosTime(date) {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107);
  return [
    (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    ((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  ];
}

/** An archive; `write` takes each run of bytes, in order. */
export class Zip {
  constructor(write) {
    this.write = write;
    this.offset = 0;
    this.central = [];
  }

  async put(bytes) {
    await this.write(bytes);
    this.offset += bytes.length;
  }

  /** Adds a file of a known size whose bytes come from an async iterable. */
  async add(path, modified, size, parts) {
    const name = utf8.encode(path), start = this.offset, big = size >= MAX32;
    const [time, day] = dosTime(modified);
    const version = big ? 45 : 20;
    const extra = big ? record([2, 1], [2, 16], [8, 0], [8, 0]) : new Uint8Array();
    await this.put(record(
      [4, 0x04034b50], [2, version], [2, FLAGS], [2, 0], [2, time], [2, day], [4, 0],
      [4, big ? MAX32 : 0], [4, big ? MAX32 : 0], [2, name.length], [2, extra.length],
    ));
    await this.put(name);
    await this.put(extra);
    let crc = 0;
    for await (const part of parts) {
      crc = crc32(part, crc);
      await this.put(part);
    }
    const width = big ? 8 : 4;
    await this.put(record([4, 0x08074b50], [4, crc], [width, size], [width, size]));
    this.central.push({ name, start, size, crc, time, day });
  }

  /** Writes the directory that ends the archive. */
  async finish() {
    const begin = this.offset;
    for (const { name, start, size, crc, time, day } of this.central) {
      const wide = [];
      if (size >= MAX32) wide.push([8, size], [8, size]);
      if (start >= MAX32) wide.push([8, start]);
      const extra = wide.length ? record([2, 1], [2, wide.length * 8], ...wide) : new Uint8Array();
      const version = wide.length ? 45 : 20;
      await this.put(record(
        [4, 0x02014b50], [2, (3 << 8) | version], [2, version], [2, FLAGS], [2, 0], [2, time], [2, day], [4, crc],
        [4, Math.min(size, MAX32)], [4, Math.min(size, MAX32)], [2, name.length], [2, extra.length], [2, 0],
        [2, 0], [2, 0], [4, 0o100644 * 0x10000], [4, Math.min(start, MAX32)],
      ));
      await this.put(name);
      await this.put(extra);
    }
    const length = this.offset - begin, count = this.central.length;
    if (begin >= MAX32 || length >= MAX32 || count >= MAX16) {
      const at = this.offset;
      await this.put(record(
        [4, 0x06064b50], [8, 44], [2, (3 << 8) | 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count], [8, length], [8, begin],
      ));
      await this.put(record([4, 0x07064b50], [4, 0], [8, at], [4, 1]));
    }
    const few = Math.min(count, MAX16);
    await this.put(record(
      [4, 0x06054b50], [2, 0], [2, 0], [2, few], [2, few], [4, Math.min(length, MAX32)], [4, Math.min(begin, MAX32)], [2, 0],
    ));
  }
}
