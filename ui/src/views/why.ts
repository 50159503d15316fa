// The words of the window for why a path is in sync, or why not.
import type { PathReason, PathState, SyncState, WhyView } from "../bindings";
import type { I18n } from "../i18n";
import type { ProblemReport } from "./problem";

const MARKS: Partial<Record<PathState, SyncState>> = {
  synced: "idle",
  waiting: "syncing",
  conflict: "attention",
  one_way: "attention",
  name: "attention",
  parked: "attention",
  unmounted: "attention",
  unverified: "attention",
};

/** The picture of a state; what is left out on purpose has none. */
export function markOf(report: WhyView): SyncState | "none" {
  if (report.reason === "paused" || report.reason === "offline") return report.reason;
  return MARKS[report.state] ?? "none";
}

/** Reasons behind which there is a problem with a cause of its own. */
const WITH_CAUSE: readonly PathReason[] = ["failed", "folder_problem"];
/** Reasons that the daemon's own words belong to, which are English. */
const DETAILED: readonly PathReason[] = ["offline", "bad_name", "other"];

/** The problem behind the reason. */
export function problemOf(report: WhyView): ProblemReport | undefined {
  if (!WITH_CAUSE.includes(report.reason)) return undefined;
  const message = report.message.replace(/^(the last try|\d+ tries) failed: |^its folder doesn't sync: /, "");
  const { cause, values, hint } = report;
  return { cause, values, message, hint, count: 1, bytes: 0 };
}

/** The daemon's words where they say more than the reason; they are in English. */
export function details(report: WhyView): string[] {
  if (!DETAILED.includes(report.reason)) return [];
  if (report.values.detail !== undefined) return [report.values.detail];
  return [report.message, report.hint].filter(Boolean);
}

/** One sentence. */
export function reasonText(report: WhyView, { t, plural }: Pick<I18n, "t" | "plural">): string {
  const values = {
    rule: report.rule ?? "",
    file: report.rule_file ?? ".cairnignore",
    line: report.rule_line ?? 0,
    other: report.conflict_with ?? "",
  };
  switch (report.reason) {
    case "failed":
      return report.tries > 0 ? plural("why.tries", report.tries) : t("why.reason.failed");
    case "rule":
      return t(report.rule_line === undefined ? "why.rule_without_line" : "why.reason.rule", values);
    default:
      return t(`why.reason.${report.reason}`, values);
  }
}

/** The page on which something can be done about it. */
export function pageFor(reason: PathReason): "attention" | undefined {
  switch (reason) {
    case "conflict":
    case "conflict_copy":
    case "conflict_copy_ours":
    case "conflict_copy_theirs":
    case "deletion_held":
    case "overwrite_held":
    case "folder_problem":
      return "attention";
    default:
      return undefined;
  }
}
