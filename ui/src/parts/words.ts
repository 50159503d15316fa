// The texts for a component, kept current when the language changes.
import { getContext } from "svelte";
import type { Words } from "../words";

export function useWords(): () => Words {
  return getContext<() => Words>("words");
}
