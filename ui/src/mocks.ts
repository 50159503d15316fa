// A fake of the program, for tests of the page in a browser. In no other build.
//
// The scene is in the address: `?scene=busy&lang=de`. Tests inspect and control it through
// `window.cairn`.
import { emit } from "@tauri-apps/api/event";
import { mockIPC, mockWindows } from "@tauri-apps/api/mocks";
import {
  type Call,
  type Calls,
  COMMAND,
  type ConflictDetail,
  EVENT,
  type Fault,
  type FolderView,
  type LoginStep,
  type Op,
  type Page,
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
  problem_count: 0,
  questions: [],
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
  empty: { ...idle, folders: [], headline: "No folders are synced yet" },
  busy: {
    ...idle,
    state: "syncing",
    headline: "Syncing 12 of 340 · 4.2 MB/s · 2 min left",
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
        at: "2026-03-04T10:15:00Z",
      },
    ],
    folders: [
      {
        ...folder,
        state: "attention",
        problems: [
          {
            path: "private/key.pem",
            code: "unreadable",
            message: "can't read private/key.pem: permission denied",
            hint: "make it readable for your user, or ignore it",
          },
          {
            path: "Aux.txt",
            code: "name_clash",
            message: "aux.txt and Aux.txt differ only in case",
            hint: "rename one of them",
          },
        ],
        problem_count: 2,
      },
      { ...photos, state: "attention", questions: [{ here: false, files: 412 }] },
    ],
  },
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
    headline: "The sync service can’t start",
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
const rows = Array.from({ length: scene === "empty" ? 0 : rowsWanted }, (_, n) => ({
  at: new Date(Date.UTC(2026, 2, 4, 10, 0) - n * 61_000).toISOString(),
  kind: KINDS[n % KINDS.length] ?? "uploaded",
  path: rowsWanted > 1000 ? `archive/${n}.txt` : (NAMES[n % NAMES.length] ?? "a"),
  folder: folder.local,
  device: n % 3 === 0 ? "laptop" : "desk",
  bytes: 1000 * (n + 1),
}));

const detail: ConflictDetail = {
  mine: {
    path: "notes/plan (conflicted copy laptop 2026-03-04 101500).md",
    exists: true,
    bytes: 412,
    modified: "2026-03-04T10:14:00Z",
  },
  theirs: { path: "notes/plan.md", exists: true, bytes: 398, modified: "2026-03-04T10:12:00Z" },
  diff: [
    { kind: "same", text: "# Plan", mine: 1, theirs: 1 },
    { kind: "mine", text: "- call Grace on Monday", mine: 2 },
    { kind: "theirs", text: "- call Grace on Tuesday", theirs: 2 },
    { kind: "same", text: "- water the plants", mine: 3, theirs: 3 },
    { kind: "gap", text: "" },
    { kind: "mine", text: "- buy bread", mine: 19 },
  ],
  cut: false,
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

const TREE: Record<string, string[]> = { "/": ["music", "photos", "work"], "/photos": ["2025", "2026"] };

let login: { resolve: () => void; reject: (fault: Fault) => void } | undefined;
/** What the program sends while a login waits. */
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
  activity: (call) => rows.slice(0, Math.max(call.limit, rowsWanted)),
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
  remote_folders: (call) =>
    (TREE[call.path] ?? []).map((name) => ({
      name,
      path: `${call.path === "/" ? "" : call.path}/${name}`,
    })),
  ignore: () => ["*.log", "build/"],
  try_ignore: (call) => {
    const rule = call.lines.find((line) => line.startsWith("*.") && call.path.endsWith(line.slice(1)));
    return rule ? { ignored: true, rule } : { ignored: false };
  },
  pick_folder: () => "/home/ada/Documents",
  save_text: () => true,
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
  devices: () => [
    { name: "laptop", this: true },
    { name: "desk", this: false },
  ],
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
