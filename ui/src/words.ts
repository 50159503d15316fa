// Texts in the person's language, with figures and dates as that language writes them.
import de from "./i18n/de.json";
import en from "./i18n/en.json";
import type { Language } from "./types";

const CATALOGUES: Record<Language, Record<string, string>> = { en, de };
const LOCALES: Record<Language, string> = { en: "en", de: "de" };

export type Key = keyof typeof en;
type Counted<K> = K extends `${infer Stem}.one` ? Stem : never;
export type CountKey = Counted<Key>;
type Values = Record<string, string | number>;

export function pickLanguage(tag: string): Language {
  return tag.toLowerCase().startsWith("de") ? "de" : "en";
}

export interface Words {
  readonly language: Language;
  text(key: Key, values?: Values): string;
  /** The text of a key that is put together; empty where there is none. */
  maybe(key: string): string;
  count(key: CountKey, n: number, values?: Values): string;
  number(n: number): string;
  size(bytes: number): string;
  span(seconds: number): string;
  /** A moment: the time today, else the date and time. */
  moment(rfc3339: string): string;
}

function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (slot, name: string) => String(values[name] ?? slot));
}

export function words(language: Language, today: () => Date = () => new Date()): Words {
  const catalogue = CATALOGUES[language];
  const locale = LOCALES[language];
  const whole = new Intl.NumberFormat(locale);
  const plural = new Intl.PluralRules(locale);
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const text = (key: string, values: Values = {}) => fill(catalogue[key] ?? key, values);
  return {
    language,
    text,
    maybe: (key) => catalogue[key] ?? "",
    count: (key, n, values = {}) => {
      const form = plural.select(n) === "one" ? "one" : "other";
      return text(`${key}.${form}`, { n: whole.format(n), ...values });
    },
    number: (n) => whole.format(n),
    size: (bytes) => size(bytes, locale),
    span,
    moment: (rfc3339) => {
      const at = new Date(rfc3339);
      if (Number.isNaN(at.getTime())) {
        return "";
      }
      const same = at.toDateString() === today().toDateString();
      return (same ? time : date).format(at);
    },
  };
}

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

function size(bytes: number, locale: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < UNITS.length) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  const text = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
  return `${text} ${UNITS[unit]}`;
}

function span(seconds: number): string {
  if (seconds < 60) {
    return `${Math.round(seconds)} s`;
  }
  if (seconds < 3600) {
    return `${Math.ceil(seconds / 60)} min`;
  }
  return `${Math.round(seconds / 3600)} h`;
}
