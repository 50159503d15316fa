// Transitions, without motion if the system asks for that.

export function fade(_node: Element): { duration: number; css: (t: number) => string } {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { duration: still ? 0 : 120, css: (t) => `opacity: ${t}` };
}
