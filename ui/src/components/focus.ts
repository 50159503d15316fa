// Puts the focus on an element when it appears: `use:focus`.

export function focus(node: HTMLElement): void {
  node.focus();
}
