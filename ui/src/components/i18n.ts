// The texts for a component; they follow a change of the language.
import { getContext, setContext } from "svelte";
import type { I18n } from "../i18n";

const CONTEXT = "i18n";

export function provideI18n(current: () => I18n): void {
  setContext(CONTEXT, current);
}

/** Functions that may be taken apart: each reads the current language when it is called. */
export function useI18n(): Omit<I18n, "language"> {
  const current = getContext<() => I18n>(CONTEXT);
  return {
    t: (key, values) => current().t(key, values),
    tOptional: (key, values) => current().tOptional(key, values),
    plural: (key, n, values) => current().plural(key, n, values),
    formatNumber: (n) => current().formatNumber(n),
    formatSize: (bytes) => current().formatSize(bytes),
    formatDuration: (seconds) => current().formatDuration(seconds),
    formatTime: (rfc3339) => current().formatTime(rfc3339),
    formatClock: (rfc3339) => current().formatClock(rfc3339),
    formatDay: (rfc3339) => current().formatDay(rfc3339),
  };
}
