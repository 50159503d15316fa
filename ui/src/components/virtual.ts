// The rows of a long list that are drawn.

export interface Slice {
  readonly from: number;
  readonly to: number;
}

/** Rows beyond the visible ones, so that scrolling shows no gaps. */
const OVERSCAN = 8;

export function slice(scroll: number, height: number, row: number, count: number): Slice {
  const first = Math.floor(Math.max(scroll, 0) / row);
  const visible = Math.ceil(Math.max(height, 0) / row);
  const from = Math.min(Math.max(first - OVERSCAN, 0), count);
  return { from, to: Math.min(first + visible + OVERSCAN, count) };
}
