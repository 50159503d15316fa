// Puts the focus on an element when it appears: `use:focus`.

export function focus(node: HTMLElement): void {
  // What is in a dialog can't have the focus before that is open, and then it goes here.
  node.autofocus = true;
  node.focus();
}
