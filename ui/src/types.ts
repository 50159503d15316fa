// Made from the Rust view models by src-tauri/tests/bindings.rs. Do not edit.

export type AccountView = { email: string, server: string, device_name: string, used: number, limit: number, files: number, };

export type ActivityView = { at: string, kind: string, path: string, folder?: string, device?: string, bytes: number, };

export type Assistant = "claude-desktop" | "vscode" | "cursor";

export type AssistantConfig = { 
/**
 * The name of the file that it belongs in.
 */
file: string, text: string, };

export type AutostartView = { tray: boolean, daemon: boolean, };

export type Call = { "op": "start" } | { "op": "activity", limit: number, } | { "op": "pause", span: PauseFor, } | { "op": "resume" } | { "op": "rescan" } | { "op": "retry" } | { "op": "conflict", folder: string, path: string, copy: string, } | { "op": "resolve", folder: string, copy: string, keep: KeepView, } | { "op": "confirm", folder: string, delete: boolean, } | { "op": "folder", local: string, } | { "op": "add_folder", folder: FolderChoices, } | { "op": "change_folder", folder: FolderChoices, } | { "op": "remove_folder", local: string, } | { "op": "remote_folders", path: string, } | { "op": "ignore", folder: string, } | { "op": "set_ignore", folder: string, lines: Array<string>, } | { "op": "try_ignore", folder: string, lines: Array<string>, path: string, } | { "op": "reveal", folder: string, path: string, } | { "op": "open_folder", folder: string, } | { "op": "pick_folder" } | { "op": "save_text", name: string, text: string, } | { "op": "versions", folder: string, path: string, } | { "op": "restore_version", folder: string, path: string, revision: string, } | { "op": "account" } | { "op": "devices" } | { "op": "login", form: LoginForm, } | { "op": "cancel_login" } | { "op": "logout" } | { "op": "recovery_setup", passphrase: string, } | { "op": "recovery_status" } | { "op": "change_passphrase", present: string, new: string, } | { "op": "config" } | { "op": "set_config", key: string, value: string, } | { "op": "autostart" } | { "op": "set_autostart", tray: boolean, daemon: boolean, } | { "op": "assistant_config", assistant: Assistant, } | { "op": "set_settings", settings: Settings, } | { "op": "webhooks" } | { "op": "add_webhook", url: string, events: Array<string>, } | { "op": "act_webhook", id: string, act: WebhookAct, } | { "op": "deliveries", id: string, } | { "op": "retry_delivery", id: string, delivery: string, };

export type ConflictDetail = { 
/**
 * This device's: the conflict copy.
 */
mine: VersionFacts, 
/**
 * What kept the name.
 */
theirs: VersionFacts, 
/**
 * Absent where one of them is no text, or too big.
 */
diff?: Array<DiffLine>, 
/**
 * There are more differing lines than `diff` has.
 */
cut: boolean, };

export type ConflictView = { folder: string, 
/**
 * What kept the name, below the folder.
 */
path: string, 
/**
 * The copy beside it, below the folder.
 */
copy: string, kind: string, device: string, at: string, };

export type DeviceView = { name: string, this: boolean, };

export type DeliveryView = { id: string, event: string, 
/**
 * `pending`, `retrying`, `delivered` or `failed`.
 */
state: string, at: string, attempts: number, 
/**
 * Why the last attempt failed: what the other end answered, or that it didn't.
 */
trouble: string, };

export type DiffLine = { kind: LineKind, text: string, 
/**
 * Its number in this device's version, from 1.
 */
mine?: number, 
/**
 * Its number in the other one.
 */
theirs?: number, };

export type Fault = { code: FaultCode, message: string, };

export type FaultCode = "failed" | "usage" | "not_logged_in" | "offline" | "decision" | "no_daemon" | "cancelled";

export type FolderChoices = { local: string, remote: string, mode: ModeView, 
/**
 * Where not empty: only these subfolders come to this device.
 */
only: Array<string>, exclude: Array<string>, 
/**
 * None: deletions never wait.
 */
gate?: GateView | null, };

export type FolderView = { local: string, 
/**
 * The last part of the local path.
 */
name: string, remote: string, state: StateView, mode: ModeView, pending: number, files: number, bytes: number, 
/**
 * The first ones; `problem_count` tells how many there are.
 */
problems: Array<ProblemView>, problem_count: number, questions: Array<QuestionView>, };

export type GateView = { percent: number, files: number, };

export type IconScheme = "light" | "dark";

export type KeepView = "mine" | "theirs" | "both" | "merge";

export type Language = "en" | "de";

export type LineKind = "same" | "mine" | "theirs" | "gap";

export type Link = "starting" | "up" | "down" | "logged_out";

export type LoginForm = { server: string, 
/**
 * Without one, the browser is asked.
 */
api_key?: string | null, passphrase: string, device_name?: string | null, 
/**
 * Keep secrets in a private file instead of the system's keyring.
 */
secrets_in_file: boolean, };

export type ModeView = "two-way" | "upload" | "download";

export type Notify = { conflict: boolean, question: boolean, error: boolean, 
/**
 * Something big has been synced.
 */
done: boolean, };

export type PauseFor = "hour" | "tomorrow" | "resumed";

export type Place = "overview" | "activity" | "attention" | "folders" | "settings" | "setup";

export type ProblemView = { path: string, code: string, message: string, hint: string, };

export type QuestionView = { 
/**
 * True: the files would be deleted on this disk. False: on the service.
 */
here: boolean, files: number, };

export type RemoteFolder = { name: string, 
/**
 * `/a/b`.
 */
path: string, };

export type Settings = { 
/**
 * None: the system's.
 */
language?: Language | null, icon: IconScheme, notify: Notify, 
/**
 * Onboarding was left for later; it can be taken up again.
 */
setup_left: boolean, };

export type Share = { done: number, total: number, };

export type Start = { version: string, language: Language, settings: Settings, };

export type StateView = "idle" | "syncing" | "paused" | "offline" | "attention" | "error";

export type TransferView = { path: string, up: boolean, done: number, size: number, 
/**
 * Bytes per second.
 */
speed: number, seconds_left?: number, };

export type VerdictView = { ignored: boolean, rule?: string, };

export type VersionFacts = { 
/**
 * Below the folder.
 */
path: string, exists: boolean, bytes: number, 
/**
 * RFC 3339 in UTC; absent where it is unknown.
 */
modified?: string, };

export type VersionView = { revision: string, number: number, bytes: number, at: string, by: string, current: boolean, };

export type View = { link: Link, state: StateView, 
/**
 * One line, in the person's language.
 */
headline: string, 
/**
 * Why the daemon doesn't run, or why it is offline.
 */
trouble?: string, paused_until?: string, pending: number, share?: Share, 
/**
 * Bytes per second, both ways together.
 */
speed: number, folders: Array<FolderView>, transfers: Array<TransferView>, conflicts: Array<ConflictView>, 
/**
 * What needs a person: conflicts, questions and problems.
 */
attention: number, };

export type WebhookAct = "test" | "enable" | "disable" | "remove";

export type WebhookView = { id: string, url: string, events: Array<string>, enabled: boolean, };
