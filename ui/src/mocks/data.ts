// What the fake of the tray program answers with. Tests change some of it: it lasts as long as the page.
import type { ConflictDetail, LinkView, PastEvent, RewindPlan, SessionView, WhyView } from "../bindings";
import { folder } from "./scenes";

const query = new URLSearchParams(window.location.search);
const scene = query.get("scene") ?? "idle";
const rowsWanted = Number(query.get("rows") ?? "60");

const KINDS = ["uploaded", "downloaded", "renamed", "deleted"] as const;
const NAMES = [
  "notes/plan.md",
  "reports/annual report 2026.pdf",
  "Videos/holiday.mp4",
  "budget.ods",
  "src/main.rs",
];
const single = Array.from({ length: scene === "empty" ? 0 : rowsWanted }, (_, n) => ({
  at: new Date(Date.UTC(2026, 2, 4, 10, 0) - n * 61_000).toISOString(),
  kind: KINDS[n % KINDS.length] ?? "uploaded",
  path: rowsWanted > 1000 ? `archive/${n}.txt` : (NAMES[n % NAMES.length] ?? "a"),
  folder: folder.local,
  device: n % 3 === 0 ? "laptop" : "desk",
  bytes: 1000 * (n + 1),
}));

/** In the scene "burst", five hundred photos came within a few minutes. */
const burst = Array.from({ length: scene === "burst" ? 500 : 0 }, (_, n) => ({
  at: new Date(Date.UTC(2026, 2, 4, 10, 10) - n * 300).toISOString(),
  kind: "downloaded" as const,
  path: `Photos/${2020 + (n % 5)}/${n}.jpg`,
  folder: folder.local,
  device: "desk",
  bytes: 2_000_000,
}));
export const rows = [...burst, ...single];

export const detail: ConflictDetail = {
  copy: {
    path: "notes/plan (conflicted copy laptop 2026-03-04 101500).md",
    exists: true,
    bytes: 412,
    modified: "2026-03-04T10:14:00Z",
  },
  original: { path: "notes/plan.md", exists: true, bytes: 398, modified: "2026-03-04T10:12:00Z" },
  diff: [
    { kind: "same", text: "# Plan", mine: 1, theirs: 1 },
    { kind: "mine", text: "- call Grace on Monday", mine: 2 },
    { kind: "theirs", text: "- call Grace on Tuesday", theirs: 2 },
    { kind: "same", text: "- water the plants", mine: 3, theirs: 3 },
    { kind: "gap", text: "" },
    { kind: "mine", text: "- buy bread", mine: 19 },
  ],
  cut: false,
  ends_differ: false,
};

const TREE: Record<string, string[]> = {
  "/": ["music", "photos", "work", "budget.ods"],
  "/photos": ["2025", "2026"],
};

const GIB = 2 ** 30;
/** Bytes below each folder. */
const SIZES: Record<string, number> = {
  "/music": 8 * GIB,
  "/photos": 30 * GIB,
  "/photos/2025": 18 * GIB,
  "/photos/2026": 12 * GIB,
  "/work": 2 * GIB,
  "/plans": 3 * GIB,
  "/plans/2027": GIB,
};
/** The size of a folder; absent in the scene "empty", as from an older server. */
export const sizeOf = (path: string) => (scene === "empty" ? {} : { bytes: SIZES[path] ?? 0 });

const TEAM_TREE: Record<string, string[]> = { "/": ["plans", "budget.ods"], "/plans": ["2027"] };
export const tree = (team: string | null) => (team === null ? TREE : TEAM_TREE);

export const devices = [
  { id: "d1", name: "laptop", this: true, last_seen: "2026-03-04T10:15:00Z" },
  { id: "d2", name: "desk", this: false, last_seen: "2026-03-02T18:40:00Z" },
  { id: "d3", name: "old phone", this: false },
];

export const inSync: WhyView = {
  path: "",
  state: "synced",
  reason: "synced",
  message: "it is in sync",
  hint: "",
  cause: "other",
  values: {},
  remote: "/notes",
  tries: 0,
  synced_at: "2026-03-04T09:58:00Z",
  behind: 0,
  problems_below: 0,
};
/** The reports that differ, by the path below the folder. */
export const reports: Record<string, Partial<WhyView>> = {
  "src/main.rs": {
    state: "ignored",
    reason: "rule",
    rule: "*.rs",
    rule_file: "src/.cairnignore",
    rule_line: 3,
  },
  "notes/plan.md": {
    state: "conflict",
    reason: "conflict",
    conflict_with: "notes/plan (conflicted copy laptop 2026-03-04 101500).md",
  },
  "private/key.pem": {
    state: "parked",
    reason: "failed",
    cause: "disk",
    values: { detail: "Input/output error (os error 5)" },
    message: "3 tries failed: Input/output error (os error 5)",
    hint: "check the disk and the path; it is tried again by itself",
    tries: 3,
    next_try_at: "2026-03-04T10:20:00Z",
    behind: 1240,
  },
  "budget.ods": { state: "waiting", reason: "paused", behind: 12, problems_below: 2 },
  "usb/film.mkv": { state: "unmounted", reason: "mount_gone", above: "usb" },
};
export const sessions: SessionView[] =
  scene === "empty"
    ? []
    : [
        { id: "a1", by: "assistant", at: "2026-03-04T09:40:00Z", command: "mcp", changes: 27 },
        {
          id: "c1",
          by: "command",
          at: "2026-03-03T18:00:00Z",
          command: "move /notes /archive/notes",
          changes: 1,
        },
      ];
export const words = "velvet cargo ankle rural pulse ghost tunnel amber willow comet ladder stone".split(" ");
export const remoteTrash = [
  { id: "t1", name: "budget 2025.ods", is_folder: false, at: "2026-03-04T09:00:00Z", bytes: 48_000 },
  { id: "t2", name: "old drafts", is_folder: true, at: "2026-03-03T09:00:00Z", bytes: 0 },
  { id: "t3", name: "plan.md", is_folder: false, at: "2026-03-01T09:00:00Z", bytes: 398 },
];
export const localTrash = [
  {
    id: "20260304T090000Z/notes/draft.md",
    folder: folder.local,
    path: "notes/draft.md",
    at: "2026-03-04T09:00:00Z",
    bytes: 1200,
  },
];
export const links: LinkView[] =
  scene === "empty"
    ? []
    : [
        {
          id: "l1",
          name: "holiday",
          address: "https://cloud.example.org/s/abc234#q7Vv0cJ2Zr3nK5xT8yB1mD4fG6hL9pS0",
          state: "active",
          is_on: true,
          has_password: true,
          expires_at: "2026-04-01T00:00:00Z",
          download_limit: 5,
          downloads: 2,
          opened: 7,
        },
        {
          id: "l2",
          name: "annual report 2026.pdf",
          state: "deactivated",
          is_on: false,
          has_password: false,
          downloads: 0,
          opened: 1,
        },
      ];
/** Many photos in one minute, a deletion and a move. */
export const pastEvents: PastEvent[] = [
  ...Array.from(
    { length: 40 },
    (_, n): PastEvent => ({
      at: new Date(Date.UTC(2026, 2, 4, 10, 0) - n * 1000).toISOString(),
      kind: "created",
      path: `/photos/2026/${String(n).padStart(4, "0")}.jpg`,
      device: "desk",
      bytes: 2_000_000,
    }),
  ),
  { at: "2026-03-03T09:00:00Z", kind: "deleted", path: "/photos/2025/beach.jpg", device: "laptop" },
  { at: "2026-03-03T08:00:00Z", kind: "moved", path: "/photos/2025/b.jpg", from: "/photos/b.jpg" },
];
export const rewindPlan: RewindPlan = {
  files_back: 1,
  files_trashed: 40,
  files_changed: 0,
  moved: 1,
  back: ["/photos/2025/beach.jpg"],
  trash: ["/photos/2026"],
  changed: [],
  moves: ["/photos/2025/b.jpg"],
  incomplete: [
    { path: "/photos/c.jpg", message: "the version of that time is not kept any more: it stays as it is" },
  ],
};

/** A picture of two pixels. */
export const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGPQz/c/ESUHAAeyAi5jv8i1AAAAAElFTkSuQmCC";
