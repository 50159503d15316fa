// Texts, numbers and dates in the person's language.

import type { Language } from "./bindings";
import de from "./i18n/de.json";
import en from "./i18n/en.json";

const CATALOGUES: Record<Language, Record<string, string>> = { en, de };
const LOCALES: Record<Language, string> = { en: "en", de: "de" };

export type Key = keyof typeof en;
type Counted<K> = K extends `${infer Stem}.one` ? Stem : never;
export type CountKey = Counted<Key>;
type Values = Record<string, string | number>;

export function pickLanguage(tag: string): Language {
  return tag.toLowerCase().startsWith("de") ? "de" : "en";
}

export interface I18n {
  readonly language: Language;
  t(key: Key, values?: Values): string;
  /** The text of a key that is put together at run time; empty if there is none. */
  tOptional(key: string, values?: Values): string;
  plural(key: CountKey, n: number, values?: Values): string;
  formatNumber(n: number): string;
  formatSize(bytes: number): string;
  formatDuration(seconds: number): string;
  /** The time if it is today, else the date and time. */
  formatTime(rfc3339: string): string;
  /** The time without the date. */
  formatClock(rfc3339: string): string;
  /** The date: “Today”, “Yesterday”, or written out. */
  formatDay(rfc3339: string): string;
}

function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (slot, name: string) => String(values[name] ?? slot));
}

export function createI18n(language: Language, now: () => Date = () => new Date()): I18n {
  const catalogue = CATALOGUES[language];
  const locale = LOCALES[language];
  const whole = new Intl.NumberFormat(locale);
  const rules = new Intl.PluralRules(locale);
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "full" });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const format = (rfc3339: string, how: (at: Date) => string) => {
    const at = new Date(rfc3339);
    return Number.isNaN(at.getTime()) ? "" : how(at);
  };
  const t = (key: string, values: Values = {}) => fill(catalogue[key] ?? key, values);
  return {
    language,
    t,
    tOptional: (key, values = {}) => fill(catalogue[key] ?? "", values),
    plural: (key, n, values = {}) => {
      const form = rules.select(n) === "one" ? "one" : "other";
      return t(`${key}.${form}`, { n: whole.format(n), ...values });
    },
    formatNumber: (n) => whole.format(n),
    formatSize: (bytes) => formatSize(bytes, locale),
    formatDuration,
    formatTime: (rfc3339) => format(rfc3339, (at) => (daysAgo(at, now()) === 0 ? time : date).format(at)),
    formatClock: (rfc3339) => format(rfc3339, (at) => time.format(at)),
    formatDay: (rfc3339) =>
      format(rfc3339, (at) => {
        const ago = daysAgo(at, now());
        return ago === 0 || ago === 1 ? capitalize(relative.format(-ago, "day")) : day.format(at);
      }),
  };
}

/** The number of midnights between a time and now. */
function daysAgo(at: Date, now: Date): number {
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(now) - midnight(at)) / 86_400_000);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** The size as the command line shows it; `tests/vectors/sizes.json` holds both to it. */
function formatSize(bytes: number, locale: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= (unit === 0 ? 1024 : 1023.5) && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  const text = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  }).format(value);
  return `${text} ${UNITS[unit]}`;
}

function formatDuration(seconds: number): string {
  if (seconds < 60) {
    return `${Math.round(seconds)} s`;
  }
  if (seconds < 3600) {
    return `${Math.ceil(seconds / 60)} min`;
  }
  return `${Math.round(seconds / 3600)} h`;
}
