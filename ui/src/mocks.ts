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
  EVENT,
  type FileRequest,
  type LinkView,
  type LoginStep,
  type LostDevice,
  type Op,
  type Page,
  type ProgramError,
  type Settings,
  type View,
  type WindowEvent,
} from "./bindings";
import {
  detail,
  devices,
  inSync,
  links,
  localTrash,
  pastEvents,
  picture,
  remoteTrash,
  reports,
  rewindPlan,
  rows,
  sessions,
  sizeOf,
  tree,
  words,
} from "./mocks/data";
import { idle, SCENES } from "./mocks/scenes";

const query = new URLSearchParams(window.location.search);
const scene = query.get("scene") ?? "idle";
/** A passphrase with which the service carries out what was asked, and its answer is lost. */
const ANSWER_LOST = "answer lost";

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

function setPaused(local: string | null, state: "paused" | "idle", headline: string): void {
  const folders = view.folders.map((one) =>
    local === null || one.local === local ? { ...one, state } : one,
  );
  push(local === null ? { ...view, state, headline, folders } : { ...view, folders });
}
/** In the scene "replaced", a device was begun to be shut out. */
let unfinished: LostDevice | undefined = scene === "replaced" ? { id: "d9", name: "lost tablet" } : undefined;

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
  pause: (call) => {
    setPaused(call.folder, "paused", "Paused");
    return null;
  },
  resume: (call) => {
    setPaused(call.folder, "idle", "Up to date");
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
    private: false,
    mode: "two-way",
    only: ["photos/2026"],
    exclude: [],
    gate: { percent: 50, files: 50, most: 1000 },
  }),
  teams: () => (scene === "team" ? [{ id: "t1", name: "Crew" }] : []),
  remote_folders: (call) =>
    (tree(call.team)[call.path] ?? [])
      .filter((name) => !name.includes("."))
      .map((name) => {
        const path = `${call.path === "/" ? "" : call.path}/${name}`;
        return { name, path, ...sizeOf(path) };
      }),
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
  links: (call) => (call.folder === null ? links : links.slice(0, 1)),
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
  undo: (call) => {
    sessions.splice(0, sessions.length, ...sessions.filter((one) => one.id !== call.session));
    return call.session === "a1" ? ["/archive/report.odt was changed since"] : [];
  },
  version_text: (call) =>
    call.path.endsWith(".jpg")
      ? { picture, cut: false, verified: true }
      : { text: "# Plan\n\n- call Grace on Monday\n", cut: false, verified: true },
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
  devices: () => ({ devices, ...(unfinished === undefined ? {} : { unfinished }) }),
  revoke_device: (call) => {
    const at = devices.findIndex((device) => device.id === call.id);
    const [gone] = at < 0 ? [] : devices.splice(at, 1);
    if (call.choices.passphrase === "wrong") {
      // It is logged out first, whatever happens then.
      unfinished = { id: call.id, name: gone?.name ?? unfinished?.name ?? "" };
      return Promise.reject({ code: "failed", message: "this is not the passphrase of ada@example.org" });
    }
    unfinished = undefined;
    const lost = call.choices.passphrase === ANSWER_LOST;
    return {
      recovery_key: { key: "9KHB-W3EN-5RFC-J8ZV-7QX2-M4TD-P6YA-2GUS", in_force: !lost },
      ...(lost ? { failed: "can't write to the disk" } : {}),
      api_keys: call.choices.api_keys ? [] : ["scanner"],
      teams_to_ask: ["Crew"],
      teams_failed: [],
    };
  },
  update_keys: () => {
    push(idle);
    return true;
  },
  compare: () => ({
    in_sync: view.state === "idle",
    spaces:
      scene === "empty"
        ? []
        : [
            { words, sealed: 9407, unsealed: 0, last_change: { at: "2026-03-04T09:58:00Z", device: "desk" } },
            { team: "Crew", words: [...words].reverse(), sealed: 31, unsealed: 2 },
          ],
  }),
  why: (call) => {
    const path = call.path.replace(`${call.folder}/`, "");
    return { ...inSync, path, remote: `/${path}`, ...reports[path] };
  },
  pick_file: () => "usb/film.mkv",
  limits: () => ({ up: 2_000_000 }),
  sessions: () => sessions,
  preview_undo: (call) =>
    call.session === "a1"
      ? {
          counts: {
            trashed_items: 3,
            trashed_trees: 1,
            restored: 0,
            moved: 21,
            contents: 1,
            details: 0,
            links_deleted: 1,
            links_changed: 0,
            links_left: 0,
          },
          taken_back: [],
          left: [],
        }
      : {
          taken_back: ["/archive/notes moves back to /notes"],
          left: ["/archive/notes/b.md was changed since"],
        },
  install_assistant: (call) => `/home/ada/.config/${call.assistant}.json`,
  bug_report: (call) => `/home/ada/${call.name}`,
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
  recovery_setup: (call) => ({
    key: "7QX2-M4TD-9KHB-W3EN-5RFC-J8ZV-P6YA-2GUS",
    in_force: call.passphrase !== ANSWER_LOST,
  }),
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
    file: (file: FileRequest) => send({ event: "file", payload: file }),
    fail: (op: string, message: string) => failing.set(op, message),
    succeed: (op: string) => failing.delete(op),
  },
});
