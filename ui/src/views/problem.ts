// The words of the window for a problem: the daemon names its cause and gives the values, its sentences are English.
import type { ProblemCause, ProblemCode, ProblemValues } from "../bindings";
import type { I18n } from "../i18n";

/** Every cause, and whether its text counts files and folders. One that the program adds is an error here. */
export const IS_COUNTED = {
  auth_failed: true,
  team_key_refused: false,
  changing: true,
  deletions_held: false,
  disk: true,
  mounted_there: true,
  disk_full: true,
  own_disk_full: false,
  failed: true,
  rules_invalid: true,
  folder_gone: false,
  mount_gone: true,
  impossible: true,
  into_itself: true,
  index: false,
  key_to_accept: false,
  keys_replaced: false,
  name: true,
  name_character: true,
  name_device: true,
  name_ending: true,
  name_not_text: true,
  name_too_long: true,
  name_clash: true,
  name_reads_same: true,
  name_taken_here: true,
  special_in_the_way: true,
  offline: false,
  one_way: true,
  one_way_receives: true,
  one_way_sends: true,
  overwrites_held: false,
  protocol: false,
  quota: true,
  remote_gone: false,
  remote_is_file: false,
  rollback: true,
  went_back: false,
  went_back_compared: false,
  forbidden: true,
  key_not_granted: false,
  not_a_member: false,
  server: true,
  server_busy: false,
  team_without_key: false,
  special: true,
  symlink: true,
  rules_files_too_large: true,
  rules_too_large: false,
  too_large: true,
  unauthorized: false,
  rules_unreadable: true,
  unreadable: true,
  unverified: true,
  views_differ: false,
  watch: false,
  other: false,
} as const satisfies Record<ProblemCause, boolean>;

type CountedCause = {
  [Cause in ProblemCause]: (typeof IS_COUNTED)[Cause] extends true ? Cause : never;
}[ProblemCause];

function isCounted(cause: ProblemCause): cause is CountedCause {
  return IS_COUNTED[cause];
}

/** The daemon's report of a problem, or of several with one cause. */
export interface ProblemReport {
  /** Absent in the report of one path. */
  code?: ProblemCode;
  cause: ProblemCause;
  values: ProblemValues;
  count: number;
  /** Bytes of the files that wait because of it. */
  bytes: number;
  message: string;
  hint: string;
}

export interface ProblemWords {
  text: string;
  hint: string;
  /** In English: what the system or the server said, or all that the daemon says of a cause that is not known. */
  detail: string;
}

type Words = Pick<I18n, "t" | "tOptional" | "plural" | "formatSize" | "formatTime" | "formatDay">;

export function problemWords(problem: ProblemReport, words: Words): ProblemWords {
  // The daemon of an earlier version gives no cause; each code is also the general cause of its kind.
  const cause: ProblemCause = problem.cause === "other" ? (problem.code ?? "other") : problem.cause;
  const values = slots(problem, words);
  const text = cause === "other" ? "" : textOf(cause, problem, values, words);
  if (text === "") {
    const detail = [problem.message, problem.hint].filter(Boolean).join(" – ");
    return { text: words.t("problem.other"), hint: "", detail };
  }
  const hint = words.tOptional(`problem.${cause}.hint`, values);
  const detail = problem.values.detail ?? (problem.cause === "other" ? problem.message : "");
  return { text, hint: [room(problem, words), hint].filter(Boolean).join(" "), detail };
}

/** Empty if a value is missing that the text needs. */
function textOf(
  cause: ProblemCause,
  problem: ProblemReport,
  values: Record<string, string>,
  words: Words,
): string {
  const { t, tOptional, plural } = words;
  if (values.who !== undefined && values.at !== undefined) {
    const by = tOptional(`problem.${cause}.by`, values);
    if (by !== "") return by;
  }
  if (isCounted(cause)) {
    const isWhole = problem.count !== 1 || hasValues(tOptional(`problem.${cause}.one`), values);
    return isWhole ? plural(`problem.${cause}`, problem.count, values) : "";
  }
  return hasValues(tOptional(`problem.${cause}`), values) ? t(`problem.${cause}`, values) : "";
}

function hasValues(text: string, values: Record<string, string>): boolean {
  return [...text.matchAll(/\{(\w+)\}/g)].every(([, slot]) => slot !== undefined && slot in values);
}

function slots({ values }: ProblemReport, { formatTime, formatDay }: Words): Record<string, string> {
  const { name, team, who, fingerprint, command, at } = values;
  // A day is a day everywhere.
  const time = at === undefined ? undefined : at.length === 10 ? formatDay(`${at}T12:00:00`) : formatTime(at);
  const all = { name, team, who, fingerprint, command, at: time };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Record<string, string>;
}

/** The room that is missing on a full disk, as far as it is known. */
function room({ values, bytes }: ProblemReport, { t, formatSize }: Words): string {
  const free = values.free;
  if (free === undefined || bytes <= free) return "";
  return t("problem.disk_full.room", {
    need: formatSize(bytes),
    free: formatSize(free),
    missing: formatSize(bytes - free),
  });
}
