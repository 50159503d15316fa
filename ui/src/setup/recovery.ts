// A recovery key in its groups, for showing and checking.

export function groups(key: string): string[] {
  return key.split(/[\s-]+/).filter((group) => group !== "");
}

/** Two different places of `count`, in order. `random` gives numbers from 0 to below 1. */
export function pickTwo(count: number, random: () => number = Math.random): [number, number] {
  const first = Math.floor(random() * (count - 1));
  const second = first + 1 + Math.floor(random() * (count - 1 - first));
  return [first, second];
}

export function sameGroup(typed: string, group: string): boolean {
  return typed.trim().toUpperCase() === group.toUpperCase();
}
