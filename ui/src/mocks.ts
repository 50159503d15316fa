// A fake of the tray program (the Rust side of the window), for tests of the page in a browser. In no other build.
//
// The state that the page shows (a scene of `SCENES`) is in the address: `?scene=busy&lang=de`. Tests inspect and
// control it through `window.cairn`.
import { emit } from "@tauri-apps/api/event";
import { mockIPC, mockWindows } from "@tauri-apps/api/mocks";
import {
  type Call,
  type Calls,
  COMMAND,
  type ConflictDetail,
  EVENT,
  type FolderView,
  type LinkView,
  type LoginStep,
  type Op,
  type Page,
  type PastEvent,
  type ProgramError,
  type RewindPlan,
  type Settings,
  type View,
  type WindowEvent,
} from "./bindings";

const query = new URLSearchParams(window.location.search);
const scene = query.get("scene") ?? "idle";
const rowsWanted = Number(query.get("rows") ?? "60");

const folder: FolderView = {
  local: "/home/ada/Cairn",
  name: "Cairn",
  remote: "/",
  state: "idle",
  mode: "two-way",
  pending: 0,
  files: 1284,
  bytes: 3_482_000_000,
  problems: [],
  confirmations: [],
};
const plans: FolderView = {
  ...folder,
  local: "/home/ada/Plans",
  name: "Plans",
  remote: "/plans",
  team: { id: "t1", name: "Crew" },
};
const photos: FolderView = {
  ...folder,
  local: "/home/ada/Pictures",
  name: "Pictures",
  remote: "/photos",
  mode: "upload",
  files: 8123,
  bytes: 41_200_000_000,
};
const idle: View = {
  connection: "up",
  state: "idle",
  headline: "Up to date",
  pending: 0,
  speed: 0,
  folders: [folder, photos],
  transfers: [],
  conflicts: [],
  attention: 0,
};

const SCENES: Record<string, View> = {
  idle,
  burst: idle,
  empty: { ...idle, folders: [], headline: "No folders are synced yet" },
  busy: {
    ...idle,
    state: "syncing",
    headline: "Syncing 12 of 340 · 4.0 MiB/s · 2 min left",
    pending: 328,
    progress: { done: 12, total: 340 },
    speed: 4_200_000,
    folders: [{ ...folder, state: "syncing", pending: 328 }, photos],
    transfers: [
      {
        path: "Videos/holiday.mp4",
        up: true,
        done: 310_000_000,
        size: 812_000_000,
        speed: 3_900_000,
        seconds_left: 120,
      },
      {
        path: "reports/annual report 2026.pdf",
        up: false,
        done: 120_000,
        size: 2_400_000,
        speed: 300_000,
        seconds_left: 8,
      },
    ],
  },
  paused: { ...idle, state: "paused", headline: "Paused", paused_until: "2026-03-05T07:00:00Z" },
  offline: {
    ...idle,
    state: "offline",
    headline: "Offline: syncing resumes when the server can be reached",
    last_error: "can't reach https://cloud.example.org: connection refused",
  },
  attention: {
    ...idle,
    state: "attention",
    headline: "4 things need attention",
    attention: 4,
    conflicts: [
      {
        folder: folder.local,
        path: "notes/plan.md",
        copy: "notes/plan (conflicted copy laptop 2026-03-04 101500).md",
        kind: "edit",
        device: "desk",
        copy_device: "laptop",
        copy_made_here: true,
        at: "2026-03-04T10:15:00Z",
      },
    ],
    folders: [
      {
        ...folder,
        state: "attention",
        problems: [
          {
            code: "unreadable",
            count: 29_600,
            message: "29,600 files can't be read",
            hint: "make them readable for your user, or ignore them",
            examples: ["private/key.pem", "private/more/a.pem"],
          },
          {
            code: "name_clash",
            count: 1,
            message: "aux.txt and Aux.txt differ only in case",
            hint: "rename one of them",
            examples: ["Aux.txt"],
          },
          {
            code: "disk_full",
            count: 1,
            message: "the disk is full",
            hint: "free 2 GiB",
            examples: [],
          },
        ],
      },
      { ...photos, state: "attention", confirmations: [{ kind: "deletion", side: "remote", files: 412 }] },
    ],
  },
  encrypted: {
    ...idle,
    state: "attention",
    headline: "1 thing needs attention",
    attention: 1,
    folders: [
      folder,
      { ...photos, state: "attention", confirmations: [{ kind: "overwriting", side: "remote", files: 380 }] },
    ],
  },
  team: { ...idle, folders: [folder, plans] },
  error: {
    ...idle,
    state: "error",
    headline: "Syncing has stopped",
    last_error: "the account's storage is full: free some, or ask for more",
  },
  down: {
    ...idle,
    connection: "down",
    state: "error",
    folders: [],
    headline: "Syncing can’t start",
    last_error: "the keyring is locked: unlock it and try again",
  },
  starting: { ...idle, connection: "starting", state: "offline", folders: [], headline: "Starting…" },
  out: { ...idle, connection: "logged_out", state: "attention", folders: [], headline: "Not logged in" },
};

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
const rows = [...burst, ...single];

const detail: ConflictDetail = {
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

let settings: Settings = {
  language: query.get("lang") === "de" ? "de" : query.get("lang") === "en" ? "en" : null,
  icon: "light",
  notify: { conflict: true, question: true, error: true, done: true },
  setup_left: query.has("later"),
};
const calls: Call[] = [];
const failing = new Map<string, string>();
let view = SCENES[scene] ?? idle;

function send(event: WindowEvent): void {
  void emit(EVENT, event);
}

function push(next: View): void {
  view = next;
  send({ event: "view", payload: view });
}

const TREE: Record<string, string[]> = {
  "/": ["music", "photos", "work", "budget.ods"],
  "/photos": ["2025", "2026"],
};

const TEAM_TREE: Record<string, string[]> = { "/": ["plans", "budget.ods"], "/plans": ["2027"] };
const tree = (team: string | null) => (team === null ? TREE : TEAM_TREE);

const devices = [
  { id: "d1", name: "laptop", this: true, last_seen: "2026-03-04T10:15:00Z" },
  { id: "d2", name: "desk", this: false, last_seen: "2026-03-02T18:40:00Z" },
  { id: "d3", name: "old phone", this: false },
];
const remoteTrash = [
  { id: "t1", name: "budget 2025.ods", is_folder: false, at: "2026-03-04T09:00:00Z", bytes: 48_000 },
  { id: "t2", name: "old drafts", is_folder: true, at: "2026-03-03T09:00:00Z", bytes: 0 },
  { id: "t3", name: "plan.md", is_folder: false, at: "2026-03-01T09:00:00Z", bytes: 398 },
];
const localTrash = [
  {
    id: "20260304T090000Z/notes/draft.md",
    folder: folder.local,
    path: "notes/draft.md",
    at: "2026-03-04T09:00:00Z",
    bytes: 1200,
  },
];
const links: LinkView[] =
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
const pastEvents: PastEvent[] = [
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
const rewindPlan: RewindPlan = {
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

let login: { resolve: () => void; reject: (fault: ProgramError) => void } | undefined;
/** The steps that the program sends while a login waits. */
const steps = {
  step: (step: LoginStep) => send({ event: "login_step", payload: step }),
  passphrase: (error?: string) =>
    steps.step({
      step: "passphrase",
      email: "ada@example.org",
      is_new: !query.has("known"),
      ...(error === undefined ? {} : { error }),
    }),
};

type Reply<O extends Op> = Calls[O]["reply"];
type Replies = { [O in Op]?: (call: Call<O>) => Reply<O> | Promise<Reply<O>> };

/** The replies that the scenes need; other calls have none. */
const replies: Replies = {
  start: () => {
    queueMicrotask(() => push(view));
    return { version: "0.1.0", language: settings.language ?? "en", settings };
  },
  activity: (call) => rows.slice(0, Math.max(call.limit, rows.length)),
  pause: () => {
    push({ ...view, state: "paused", headline: "Paused" });
    return null;
  },
  resume: () => {
    push({ ...view, state: "idle", headline: "Up to date" });
    return null;
  },
  conflict: () => detail,
  resolve: () => {
    push({ ...view, conflicts: [], attention: view.attention - 1 });
    return null;
  },
  folder: (call) => ({
    local: call.local,
    remote: "/",
    mode: "two-way",
    only: ["photos/2026"],
    exclude: [],
    gate: { percent: 50, files: 50 },
  }),
  teams: () => (scene === "team" ? [{ id: "t1", name: "Crew" }] : []),
  remote_folders: (call) =>
    (tree(call.team)[call.path] ?? [])
      .filter((name) => !name.includes("."))
      .map((name) => ({ name, path: `${call.path === "/" ? "" : call.path}/${name}` })),
  ignore: () => ["*.log", "build/"],
  try_ignore: (call) => {
    const rule = call.lines.find((line) => line.startsWith("*.") && call.path.endsWith(line.slice(1)));
    return rule ? { ignored: true, rule } : { ignored: false };
  },
  pick_folder: () => "/home/ada/Documents",
  save_text: () => true,
  remote_items: (call) =>
    (tree(call.team)[call.path] ?? []).map((name) => {
      const path = `${call.path === "/" ? "" : call.path}/${name}`;
      return { id: `n-${path}`, name, path, is_folder: !name.includes(".") };
    }),
  remote_trash: () => (scene === "empty" ? [] : remoteTrash),
  local_trash: () => (scene === "empty" ? [] : localTrash),
  restore_remote: (call) => {
    const at = remoteTrash.findIndex((one) => one.id === call.id);
    const [back] = remoteTrash.splice(at, 1);
    return back?.name === "plan.md" ? "/notes/plan (2).md" : `/${back?.name ?? ""}`;
  },
  restore_local: () => localTrash.pop()?.path ?? "",
  restore_deleted: (call) => `/${call.path}`,
  links: () => links,
  create_link: (call) => {
    const made: LinkView = {
      id: "l9",
      name: "made",
      address: "https://cloud.example.org/s/new999#the-key",
      state: "active",
      is_on: true,
      has_password: call.choices.password !== null,
      ...(call.choices.days === 7 ? { expires_at: "2026-03-11T10:00:00Z" } : {}),
      downloads: 0,
      opened: 0,
    };
    links.unshift(made);
    return made;
  },
  change_link: (call) => {
    const at = links.findIndex((link) => link.id === call.id);
    const link = links[at];
    if (call.action === "revoke") links.splice(at, 1);
    else if (link) links[at] = { ...link, is_on: call.action === "enable" };
    return null;
  },
  past: (call) =>
    call.page === 1
      ? { events: pastEvents, page: 1, pages: 2 }
      : {
          events: [{ at: "2026-02-01T08:00:00Z", kind: "created", path: "/photos/b.jpg" }],
          page: 2,
          pages: 2,
        },
  rewind: (call) => ({
    plan: rewindPlan,
    ...(call.dry_run ? {} : { session: "s1" }),
    failed: [],
  }),
  undo: () => [],
  version_text: () => ({ text: "# Plan\n\n- call Grace on Monday\n", cut: false, verified: true }),
  compare_versions: () => ({ lines: detail.diff ?? [], cut: false, ends_differ: false, verified: true }),
  save_version: () => true,
  versions: () => [
    { revision: "r3", number: 3, bytes: 2_400_000, at: "2026-03-04T10:00:00Z", by: "desk", current: true },
    { revision: "r2", number: 2, bytes: 2_390_000, at: "2026-03-03T09:00:00Z", by: "laptop", current: false },
  ],
  account: () => ({
    email: "ada@example.org",
    server: "https://cloud.example.org",
    device_name: "laptop",
    used: 44_700_000_000,
    limit: 100_000_000_000,
    files: 9407,
  }),
  devices: () => devices,
  remove_device: (call) => {
    const [gone] = devices.splice(
      devices.findIndex((device) => device.id === call.id),
      1,
    );
    return gone?.name === "old phone" ? 0 : 1;
  },
  login: (call) => {
    login?.reject({ code: "cancelled", message: "The login was cancelled." });
    return new Promise((resolve, reject) => {
      login = { resolve: () => resolve(null), reject };
      if (call.form.api_key) {
        steps.passphrase();
      } else if (call.form.device_code) {
        steps.step({ step: "code", url: "https://cloud.example.org/device", code: "BDFG-HJKL" });
      } else {
        steps.step({ step: "browser", url: "https://cloud.example.org/oauth/authorize?state=x" });
      }
    });
  },
  enter_passphrase: (call) => {
    if (query.has("known") && call.passphrase === "wrong") {
      steps.passphrase("This is not the passphrase of the account.");
    } else {
      push({ ...idle, folders: [], headline: "No folders are synced yet" });
      login?.resolve();
    }
    return null;
  },
  cancel_login: () => {
    login?.reject({ code: "cancelled", message: "The login was cancelled." });
    return null;
  },
  generate_passphrase: () => "velvet-cargo-ankle-rural-pulse-ghost-tunnel",
  recovery_setup: () => "7QX2-M4TD-9KHB-W3EN-5RFC-J8ZV-P6YA-2GUS",
  recovery_status: () => false,
  config: () => ({
    limit_up: "2000000",
    limit_down: "off",
    pause_on_metered: true,
    pause_on_battery: false,
  }),
  autostart: () => ({ tray: true, daemon: true }),
  assistant_config: () => ({
    file: "claude_desktop_config.json",
    text: '{\n  "mcpServers": {\n    "cairn": {\n      "command": "/usr/bin/cairn",\n      "args": ["mcp"]\n    }\n  }\n}',
  }),
  webhooks: () => [
    {
      id: "w1",
      url: "https://hooks.example.org/cairn",
      events: ["file.uploaded", "file.deleted"],
      enabled: true,
    },
  ],
  add_webhook: () => "whsec_0123456789abcdef",
  deliveries: () => [
    {
      id: "d2",
      event: "file.uploaded",
      state: "failed",
      at: "2026-03-04T09:00:00Z",
      attempts: 7,
      last_error: "HTTP 500",
    },
    {
      id: "d1",
      event: "file.deleted",
      state: "delivered",
      at: "2026-03-03T09:00:00Z",
      attempts: 1,
      last_error: "",
    },
  ],
  set_settings: (call) => {
    settings = call.settings;
    return null;
  },
};

function reply<O extends Op>(call: Call<O>): Reply<O> | Promise<Reply<O>> | null {
  return replies[call.op as O]?.(call) ?? null;
}

mockWindows("main");
mockIPC(
  (command, payload) => {
    if (command !== COMMAND) {
      return null;
    }
    const call = (payload as { call: Call }).call;
    calls.push(call);
    const failure = failing.get(call.op);
    if (failure !== undefined) {
      return Promise.reject({ code: "failed", message: failure });
    }
    return reply(call);
  },
  { shouldMockEvents: true },
);

Object.assign(window, {
  cairn: {
    calls,
    scenes: SCENES,
    steps,
    push,
    activity: (row: (typeof rows)[number]) => send({ event: "activity", payload: [row] }),
    page: (page: Page) => send({ event: "page", payload: page }),
    fail: (op: string, message: string) => failing.set(op, message),
    succeed: (op: string) => failing.delete(op),
  },
});
