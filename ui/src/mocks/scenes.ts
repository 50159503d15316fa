// The states that the page can be in, by their names.
import type { FolderView, View } from "../bindings";

export const folder: FolderView = {
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
export const plans: FolderView = {
  ...folder,
  local: "/home/ada/Plans",
  name: "Plans",
  remote: "/plans",
  team: { id: "t1", name: "Crew" },
};
export const photos: FolderView = {
  ...folder,
  local: "/home/ada/Pictures",
  name: "Pictures",
  remote: "/photos",
  mode: "upload",
  files: 8123,
  bytes: 41_200_000_000,
};
export const idle: View = {
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

export const SCENES: Record<string, View> = {
  idle,
  burst: idle,
  empty: { ...idle, folders: [], headline: "No folders are synced yet" },
  busy: {
    ...idle,
    state: "syncing",
    headline: "Syncing 12 of 340 · 4.0 MiB/s · 2 min left",
    pending: 328,
    progress: {
      done: 12,
      total: 340,
      bytes_done: 310_120_000,
      bytes_total: 1_240_000_000,
      percent: 25,
      seconds_left: 120,
    },
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
  replaced: {
    ...idle,
    state: "error",
    headline: "Syncing has stopped",
    attention: 1,
    folders: [
      {
        ...folder,
        state: "error",
        problems: [
          {
            code: "keys_replaced",
            count: 1,
            message: "the keys of the account were replaced on desk",
            hint: "run `cairn keys update`, which asks for the passphrase",
            examples: [],
          },
        ],
      },
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
    headline: "Syncing can’t start",
    last_error: "the keyring is locked: unlock it and try again",
  },
  starting: { ...idle, connection: "starting", state: "offline", folders: [], headline: "Starting…" },
  out: { ...idle, connection: "logged_out", state: "attention", folders: [], headline: "Not logged in" },
};
