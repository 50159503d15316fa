// Generated from src-tauri by its test `bindings`. Do not edit.
//
// After a change of the Rust side: CAIRN_UPDATE_GENERATED=1 cargo nextest run -p cairn-tray --test bindings

export type AccountView = { email: string, server: string, device_name: string, used: number, limit: number, files: number, };

export type ActivityKind = "uploaded" | "downloaded" | "renamed" | "deleted" | "conflict" | "resolved" | "unverified" | "refused" | "other";

export type ActivityView = { at: string, kind: ActivityKind, path: string, folder?: string, device?: string, bytes: number, };

export type Assistant = "claude-desktop" | "claude-code" | "vscode" | "cursor" | "codex" | "gemini" | "windsurf" | "zed";

export type AssistantConfig = { 
/**
 * The name of the configuration file.
 */
file: string, text: string, };

export type AutostartView = { tray: boolean, daemon: boolean, };

export type CompareView = { 
/**
 * False: the words change until this device is in sync.
 */
in_sync: boolean, spaces: Array<SpaceWords>, };

export type ConfigKey = "limits.up" | "limits.down" | "pause.on_metered" | "pause.on_battery";

export type ConfirmationKind = "deletion" | "overwriting";

export type ConfirmationView = { kind: ConfirmationKind, 
/**
 * The side on which the files would be deleted or overwritten.
 */
side: Side, files: number, };

export type ConflictDetail = { 
/**
 * The conflict copy, whichever device it is from.
 */
copy: VersionInfo, 
/**
 * The version that kept the name.
 */
original: VersionInfo, 
/**
 * Absent if one of them isn't text, or is too big.
 */
diff?: Array<DiffLine>, 
/**
 * True if there are more differing lines than `diff` has.
 */
cut: boolean, 
/**
 * True if equal lines end differently: LF, CR LF, or the end of the file.
 */
ends_differ: boolean, };

export type ConflictKind = "edit" | "create" | "move" | "type";

export type ConflictView = { folder: string, 
/**
 * The path below the folder of the version that kept the name.
 */
path: string, 
/**
 * The path below the folder of the other version, beside it.
 */
copy: string, kind: ConflictKind, 
/**
 * The device whose version kept the name; empty if unknown.
 */
device: string, 
/**
 * The device in the copy's name.
 */
copy_device: string, 
/**
 * True if the copy is this device's version; absent if that is not known.
 */
copy_made_here?: boolean, at: string, };

export type ConnectionState = "starting" | "up" | "down" | "logged_out";

export type DaemonConfig = { 
/**
 * Bytes per second, or `off`.
 */
limit_up: string, limit_down: string, pause_on_metered: boolean, pause_on_battery: boolean, };

export type DeletionDecision = "delete" | "overwrite" | "keep";

export type DeliveryState = "pending" | "retrying" | "delivered" | "failed";

export type DeliveryView = { id: string, event: EventName, state: DeliveryState, 
/**
 * RFC 3339 in UTC.
 */
at: string, attempts: number, 
/**
 * The reason that the last attempt failed: an HTTP status or a network error; else empty.
 */
last_error: string, };

export type DeviceList = { devices: Array<DeviceView>, 
/**
 * One that this device began to shut out.
 */
unfinished?: LostDevice, };

export type DeviceView = { id: string, name: string, this: boolean, 
/**
 * RFC 3339 in UTC; absent if the server has not seen it since it began to note that.
 */
last_seen?: string, };

export type DiffLine = { kind: LineKind, text: string, 
/**
 * The line's number in this device's version or the older one, from 1.
 */
mine?: number, 
/**
 * The line's number in the other one.
 */
theirs?: number, };

export type EventKind = "file.uploaded" | "file.downloaded" | "file.deleted" | "file.moved" | "file.renamed" | "share.created" | "share.accessed" | "share.downloaded" | "share.revoked" | "team.member_joined" | "team.member_left" | "webhook.test";

export type EventName = EventKind | string;

export type FileDialog = "why" | "versions" | "share";

export type FileRequest = { dialog: FileDialog, 
/**
 * Absolute; a name that is not valid UTF-8 has replacement characters, and so is in no synced folder.
 */
path: string, };

export type FolderChoices = { local: string, remote: string, 
/**
 * The team in whose space `remote` is; none: the account's own.
 */
team?: TeamView | null, 
/**
 * True if `remote` of a new pair is in the account's private space, of whose names the server has sealed ones only.
 */
private: boolean, mode: SyncMode, 
/**
 * If not empty, only these subfolders are synced to this device.
 */
only: Array<string>, exclude: Array<string>, 
/**
 * The limit of deletions; none: they never need a confirmation.
 */
gate?: GateView | null, };

export type FolderView = { local: string, 
/**
 * The last part of the local path.
 */
name: string, remote: string, 
/**
 * The team in whose space `remote` is; absent for the account's own.
 */
team?: TeamView, state: SyncState, mode: SyncMode, pending: number, files: number, bytes: number, 
/**
 * One for each reason.
 */
problems: Array<ProblemView>, confirmations: Array<ConfirmationView>, };

export type GateView = { percent: number, files: number, most: number, };

export type IconScheme = "light" | "dark";

export type IgnoreCheck = { ignored: boolean, rule?: string, };

export type Keep = "mine" | "theirs" | "both" | "merge" | "copy" | "original";

export type Language = "en" | "de";

export type LastChange = { 
/**
 * RFC 3339 in UTC.
 */
at: string, device?: string, };

export type LeftAsItIs = { path: string, message: string, };

export type LimitsView = { up?: number, down?: number, };

export type LineKind = "same" | "mine" | "theirs" | "gap";

export type LinkAction = "disable" | "enable" | "revoke";

export type LinkChoices = { 
/**
 * A password; none: whoever has the address can open it.
 */
password?: string | null, 
/**
 * Days from now; none: the account's default.
 */
days?: number | null, 
/**
 * Downloads after which it ends.
 */
downloads?: number | null, 
/**
 * Files can be looked at, and not downloaded.
 */
view_only: boolean, };

export type LinkTarget = { "kind": "local", folder: string, path: string, } | { "kind": "remote", id: string, };

export type LinkView = { id: string, 
/**
 * The name of the file or folder.
 */
name: string, 
/**
 * The whole address with its key; absent if this device can't complete it.
 */
address?: string, state: ShareStatus, 
/**
 * False if it was switched off.
 */
is_on: boolean, has_password: boolean, 
/**
 * RFC 3339 in UTC; absent if it never ends.
 */
expires_at?: string, download_limit?: number, downloads: number, opened: number, };

export type LocalTrashed = { 
/**
 * Names it for a restore.
 */
id: string, 
/**
 * The local folder.
 */
folder: string, 
/**
 * The path that it had, below the folder.
 */
path: string, 
/**
 * RFC 3339 in UTC.
 */
at: string, bytes: number, };

export type LoginForm = { server: string, 
/**
 * An API key; none: the person signs in with a browser.
 */
api_key?: string | null, 
/**
 * The browser is on another device, where the person enters a code.
 */
device_code: boolean, device_name?: string | null, 
/**
 * Keep secrets in a private file instead of the system's keyring.
 */
secrets_in_file: boolean, };

export type LoginStep = { "step": "browser", url: string, } | { "step": "code", url: string, code: string, } | { "step": "passphrase", email: string, is_new: boolean, error?: string, };

export type LostDevice = { id: string, name: string, };

export type Notify = { conflict: boolean, question: boolean, error: boolean, 
/**
 * Something big has been synced.
 */
done: boolean, };

export type Page = "overview" | "activity" | "attention" | "folders" | "links" | "trash" | "devices" | "settings" | "setup";

export type PastEvent = { 
/**
 * RFC 3339 in UTC.
 */
at: string, kind: PastKind, 
/**
 * The path on the service that it had then.
 */
path: string, 
/**
 * The path before a move.
 */
from?: string, device?: string, bytes?: number, };

export type PastKind = "created" | "version" | "moved" | "changed" | "deleted" | "restored";

export type PastPage = { events: Array<PastEvent>, page: number, pages: number, };

export type PathReason = "synced" | "synced_unverified" | "unpaired" | "bad_name" | "folder_problem" | "own_files" | "built_in_rule" | "excluded" | "excluded_before" | "rule" | "rules_unusable" | "not_selected" | "ignored" | "special" | "name_taken" | "deleted_there" | "unreadable" | "mount_gone" | "conflict" | "conflict_copy" | "conflict_copy_ours" | "conflict_copy_theirs" | "failed" | "uploading" | "downloading" | "missing" | "receives_only" | "receives_only_deleted" | "sends_only" | "sends_only_changed" | "sends_only_deleted" | "paused" | "offline" | "deletion_held" | "overwrite_held" | "unread" | "unread_deletion" | "differs" | "only_here" | "only_there" | "starting" | "other";

export type PathState = "synced" | "waiting" | "conflict" | "ignored" | "unselected" | "one_way" | "name" | "special" | "parked" | "unmounted" | "unverified" | "missing" | "unpaired" | "other";

export type PauseFor = "hour" | "tomorrow" | "resumed";

export type ProblemCause = "auth_failed" | "team_key_refused" | "changing" | "deletions_held" | "disk" | "mounted_there" | "disk_full" | "own_disk_full" | "failed" | "rules_invalid" | "folder_gone" | "mount_gone" | "impossible" | "into_itself" | "index" | "key_to_accept" | "keys_replaced" | "name" | "name_character" | "name_device" | "name_ending" | "name_not_text" | "name_too_long" | "name_clash" | "name_reads_same" | "name_taken_here" | "special_in_the_way" | "offline" | "one_way" | "one_way_receives" | "one_way_sends" | "overwrites_held" | "protocol" | "quota" | "remote_gone" | "remote_is_file" | "rollback" | "went_back" | "went_back_compared" | "forbidden" | "key_not_granted" | "not_a_member" | "server" | "server_busy" | "team_without_key" | "special" | "symlink" | "rules_files_too_large" | "rules_too_large" | "too_large" | "unauthorized" | "rules_unreadable" | "unreadable" | "unverified" | "views_differ" | "watch" | "other";

export type ProblemCode = "auth_failed" | "changing" | "deletions_held" | "disk" | "disk_full" | "failed" | "folder_gone" | "impossible" | "index" | "key_to_accept" | "keys_replaced" | "name" | "name_clash" | "offline" | "one_way" | "overwrites_held" | "protocol" | "quota" | "remote_gone" | "remote_is_file" | "rollback" | "server" | "special" | "symlink" | "too_large" | "unauthorized" | "unreadable" | "unverified" | "watch" | "other";

export type ProblemValues = { 
/**
 * The name of another file, or a character of its own name.
 */
name?: string, team?: string, 
/**
 * The person or device that did it.
 */
who?: string, 
/**
 * The fingerprint of that person's public keys.
 */
fingerprint?: string, 
/**
 * RFC 3339, or a day of it: the time when it was done or found.
 */
at?: string, 
/**
 * The command that helps, as it can be typed into a shell.
 */
command?: string, 
/**
 * Bytes that are free on the disk.
 */
free?: number, 
/**
 * The words of the system, the server or a library, in English.
 */
detail?: string, };

export type ProblemView = { code: ProblemCode, 
/**
 * The number of files and folders.
 */
count: number, 
/**
 * The cause as a word, which the window says in its own language; `other` from an older daemon.
 */
cause: ProblemCause, values: ProblemValues, 
/**
 * Bytes of the files that wait because of it; 0 where they are not counted.
 */
bytes: number, 
/**
 * All of them in one sentence of the daemon, which is English.
 */
message: string, hint: string, 
/**
 * Paths below the folder of the first ones; none for a problem of the folder itself.
 */
examples: Array<string>, };

export type ProgramError = { code: ProgramErrorCode, message: string, };

export type ProgramErrorCode = "failed" | "usage" | "not_logged_in" | "offline" | "decision" | "no_daemon" | "cancelled";

export type RecoveryKeyView = { key: string, 
/**
 * False: the response of the service was lost, and nobody knows whether this key works or an earlier one.
 */
in_force: boolean, };

export type RemoteFolder = { name: string, 
/**
 * `/a/b`.
 */
path: string, 
/**
 * All files below it together; absent where the server doesn't say it.
 */
bytes?: number, };

export type RemoteItem = { id: string, name: string, 
/**
 * `/a/b`.
 */
path: string, is_folder: boolean, };

export type RemoteTrashed = { id: string, name: string, is_folder: boolean, 
/**
 * RFC 3339 in UTC.
 */
at: string, bytes: number, };

export type RevokeChoices = { passphrase: string, 
/**
 * The new passphrase; none: it stays.
 */
new_passphrase?: string | null, 
/**
 * Revoke the account's API keys, too, but the one that this device uses.
 */
api_keys: boolean, };

export type RevokedView = { 
/**
 * The new recovery key, if there was one before.
 */
recovery_key?: RecoveryKeyView, 
/**
 * The failure after which the rest is to be done; the command completes it.
 */
failed?: string, 
/**
 * The names of API keys that are still valid, on whatever device they are.
 */
api_keys: Array<string>, 
/**
 * Teams whose key somebody else in it has to grant again.
 */
teams_to_ask: Array<string>, 
/**
 * Teams whose key could not be renewed.
 */
teams_failed: Array<string>, };

export type RewindPlan = { 
/**
 * Files that come out of the trash.
 */
files_back: number, 
/**
 * Files that go to the trash.
 */
files_trashed: number, 
/**
 * Files that get an earlier content.
 */
files_changed: number, 
/**
 * Items that go back to where they were.
 */
moved: number, back: Array<string>, trash: Array<string>, changed: Array<string>, moves: Array<string>, incomplete: Array<LeftAsItIs>, };

export type RewindView = { plan: RewindPlan, 
/**
 * Names it for an undo; absent if nothing was done.
 */
session?: string, 
/**
 * Items that could not be made what they were.
 */
failed: Array<LeftAsItIs>, };

export type SessionBy = "assistant" | "command";

export type SessionView = { id: string, by: SessionBy, 
/**
 * RFC 3339 in UTC.
 */
at: string, 
/**
 * The command without the program's name.
 */
command: string, changes: number, };

export type Settings = { 
/**
 * The language of the window; none: the system's.
 */
language?: Language | null, icon: IconScheme, notify: Notify, 
/**
 * Onboarding was left for later; it can be taken up again.
 */
setup_left: boolean, };

export type ShareStatus = "active" | "file_gone" | "maker_left" | "deactivated" | "expired" | "at_download_limit" | "not_yet_active" | "active_window_ended";

export type Side = "local" | "remote";

export type SpaceWords = { 
/**
 * The name of the team; absent for the account's own files.
 */
team?: string, words: Array<string>, 
/**
 * Items that the words cover, and others that no device with the keys vouches for.
 */
sealed: number, unsealed: number, last_change?: LastChange, };

export type StartInfo = { version: string, language: Language, settings: Settings, };

export type SyncMode = "two-way" | "upload" | "download";

export type SyncProgress = { 
/**
 * Files.
 */
done: number, 
/**
 * Files known so far.
 */
total: number, bytes_done: number, bytes_total: number, 
/**
 * From 0 to 100.
 */
percent: number, seconds_left?: number, };

export type SyncState = "idle" | "syncing" | "paused" | "offline" | "attention" | "error";

export type TeamView = { id: string, name: string, };

export type TransferView = { path: string, up: boolean, done: number, size: number, 
/**
 * Bytes per second.
 */
speed: number, seconds_left?: number, };

export type UndoCounts = { 
/**
 * Files and empty folders that go to the trash.
 */
trashed_items: number, 
/**
 * Folders that go to the trash with all that is in them.
 */
trashed_trees: number, restored: number, moved: number, contents: number, details: number, links_deleted: number, links_changed: number, 
/**
 * Changes of links that stay.
 */
links_left: number, };

export type UndoPreview = { 
/**
 * The numbers by kind; absent for a command.
 */
counts?: UndoCounts, 
/**
 * A line for each change of a command that would be taken back, and for each that would stay.
 */
taken_back: Array<string>, left: Array<string>, };

export type VersionDiff = { 
/**
 * Absent if one of them isn't text, or is too big.
 */
lines?: Array<DiffLine>, 
/**
 * True if there are more differing lines than `lines` has.
 */
cut: boolean, 
/**
 * True if equal lines end differently: LF, CR LF, or the end of the file.
 */
ends_differ: boolean, 
/**
 * False if none of the account's devices has sealed one of the two.
 */
verified: boolean, };

export type VersionInfo = { 
/**
 * Below the folder.
 */
path: string, exists: boolean, bytes: number, 
/**
 * RFC 3339 in UTC; absent if unknown.
 */
modified?: string, };

export type VersionText = { 
/**
 * Absent if it isn't text.
 */
text?: string, 
/**
 * The address (`data:`) of the picture that it is, if it is one.
 */
picture?: string, 
/**
 * True if there is more than `text` has.
 */
cut: boolean, 
/**
 * False if none of the account's devices has sealed the version.
 */
verified: boolean, };

export type VersionView = { revision: string, number: number, bytes: number, 
/**
 * RFC 3339 in UTC.
 */
at: string, by: string, current: boolean, };

export type View = { connection: ConnectionState, state: SyncState, 
/**
 * One line, in the person's language.
 */
headline: string, 
/**
 * The reason that the daemon doesn't run, or is offline.
 */
last_error?: string, paused_until?: string, pending: number, progress?: SyncProgress, 
/**
 * Bytes per second, all transfers together.
 */
speed: number, folders: Array<FolderView>, transfers: Array<TransferView>, conflicts: Array<ConflictView>, 
/**
 * Number of things that need a person: conflicts, confirmations, and reasons why files are not synced.
 */
attention: number, };

export type WebhookAction = "test" | "enable" | "disable" | "remove";

export type WebhookView = { id: string, url: string, events: Array<EventName>, enabled: boolean, };

export type WhyView = { 
/**
 * Below the folder; empty for the folder itself.
 */
path: string, state: PathState, reason: PathReason, 
/**
 * The cause of a failure, of it or of its whole folder, as a word; `other` without one.
 */
cause: ProblemCause, values: ProblemValues, 
/**
 * The reason and the advice in the daemon's own words, which are English.
 */
message: string, hint: string, 
/**
 * The path on the service.
 */
remote?: string, 
/**
 * The folder above it that the reason is about, below the synced folder.
 */
above?: string, 
/**
 * The pattern that leaves it out.
 */
rule?: string, 
/**
 * The rules file that the pattern is in, below the synced folder.
 */
rule_file?: string, rule_line?: number, 
/**
 * The other version of a conflict, below the synced folder.
 */
conflict_with?: string, 
/**
 * Failed tries in a row.
 */
tries: number, 
/**
 * RFC 3339 in UTC.
 */
next_try_at?: string, 
/**
 * RFC 3339 in UTC: the latest transfer, as far as that is remembered.
 */
synced_at?: string, 
/**
 * Other changes of the folder that are to be done.
 */
behind: number, 
/**
 * Problems of what lies below it.
 */
problems_below: number, };

export type WindowEvent = { "event": "view", "payload": View } | { "event": "activity", "payload": Array<ActivityView> } | { "event": "login_step", "payload": LoginStep } | { "event": "page", "payload": Page } | { "event": "file", "payload": FileRequest };

export const EVENT_KINDS: EventKind[] = ["file.uploaded", "file.downloaded", "file.deleted", "file.moved", "file.renamed", "share.created", "share.accessed", "share.downloaded", "share.revoked", "team.member_joined", "team.member_left", "webhook.test"];

export const PAGES: Page[] = ["overview", "activity", "attention", "folders", "links", "trash", "devices", "settings", "setup"];

export const FILE_DIALOGS: FileDialog[] = ["why", "versions", "share"];

export const COMMAND = "call";
export const EVENT = "window-event";

/** The arguments and the reply of each call. */
export type Calls = {
  start: { arguments: {  }; reply: StartInfo };
  activity: { arguments: { limit: number }; reply: Array<ActivityView> };
  pause: { arguments: { folder: string | null, span: PauseFor }; reply: null };
  resume: { arguments: { folder: string | null }; reply: null };
  rescan: { arguments: {  }; reply: null };
  retry: { arguments: {  }; reply: null };
  why: { arguments: { folder: string, path: string }; reply: WhyView };
  pick_file: { arguments: { folder: string }; reply: string | null };
  conflict: { arguments: { folder: string, path: string, copy: string }; reply: ConflictDetail };
  resolve: { arguments: { folder: string, copy: string, keep: Keep }; reply: null };
  confirm: { arguments: { folder: string, decision: DeletionDecision }; reply: null };
  folder: { arguments: { local: string }; reply: FolderChoices };
  add_folder: { arguments: { folder: FolderChoices }; reply: null };
  change_folder: { arguments: { folder: FolderChoices }; reply: null };
  limits: { arguments: {  }; reply: LimitsView };
  remove_folder: { arguments: { local: string }; reply: null };
  teams: { arguments: {  }; reply: Array<TeamView> };
  remote_folders: { arguments: { team: string | null, path: string }; reply: Array<RemoteFolder> };
  remote_items: { arguments: { team: string | null, path: string }; reply: Array<RemoteItem> };
  ignore: { arguments: { folder: string }; reply: Array<string> };
  set_ignore: { arguments: { folder: string, lines: Array<string> }; reply: null };
  try_ignore: { arguments: { folder: string, lines: Array<string>, path: string }; reply: IgnoreCheck };
  reveal: { arguments: { folder: string, path: string }; reply: null };
  open_folder: { arguments: { folder: string }; reply: null };
  pick_folder: { arguments: {  }; reply: string | null };
  save_text: { arguments: { name: string, text: string }; reply: boolean };
  versions: { arguments: { folder: string, path: string }; reply: Array<VersionView> };
  restore_version: { arguments: { folder: string, path: string, revision: string }; reply: null };
  version_text: { arguments: { folder: string, path: string, revision: string }; reply: VersionText };
  compare_versions: { arguments: { folder: string, path: string, older: string, newer: string }; reply: VersionDiff };
  save_version: { arguments: { folder: string, path: string, revision: string }; reply: boolean };
  past: { arguments: { folder: string, path: string, page: number }; reply: PastPage };
  rewind: { arguments: { folder: string, path: string, at: string, dry_run: boolean }; reply: RewindView };
  sessions: { arguments: {  }; reply: Array<SessionView> };
  preview_undo: { arguments: { session: string }; reply: UndoPreview };
  undo: { arguments: { session: string }; reply: Array<string> };
  local_trash: { arguments: {  }; reply: Array<LocalTrashed> };
  restore_local: { arguments: { folder: string, id: string }; reply: string };
  remote_trash: { arguments: {  }; reply: Array<RemoteTrashed> };
  restore_remote: { arguments: { id: string }; reply: string };
  restore_deleted: { arguments: { folder: string, path: string }; reply: string };
  links: { arguments: { folder: string | null }; reply: Array<LinkView> };
  create_link: { arguments: { target: LinkTarget, choices: LinkChoices }; reply: LinkView };
  change_link: { arguments: { id: string, action: LinkAction }; reply: null };
  account: { arguments: {  }; reply: AccountView };
  devices: { arguments: {  }; reply: DeviceList };
  remove_device: { arguments: { id: string }; reply: number };
  revoke_device: { arguments: { id: string, choices: RevokeChoices }; reply: RevokedView };
  update_keys: { arguments: { passphrase: string }; reply: boolean };
  compare: { arguments: {  }; reply: CompareView };
  login: { arguments: { form: LoginForm }; reply: null };
  enter_passphrase: { arguments: { passphrase: string }; reply: null };
  cancel_login: { arguments: {  }; reply: null };
  logout: { arguments: {  }; reply: null };
  recovery_setup: { arguments: { passphrase: string }; reply: RecoveryKeyView };
  recovery_status: { arguments: {  }; reply: boolean };
  generate_passphrase: { arguments: {  }; reply: string };
  change_passphrase: { arguments: { current: string, next: string }; reply: null };
  config: { arguments: {  }; reply: DaemonConfig };
  set_config: { arguments: { key: ConfigKey, value: string }; reply: null };
  autostart: { arguments: {  }; reply: AutostartView };
  set_autostart: { arguments: { tray: boolean, daemon: boolean }; reply: null };
  assistant_config: { arguments: { assistant: Assistant }; reply: AssistantConfig };
  install_assistant: { arguments: { assistant: Assistant }; reply: string };
  bug_report: { arguments: { name: string, names: boolean }; reply: string | null };
  set_settings: { arguments: { settings: Settings }; reply: null };
  webhooks: { arguments: {  }; reply: Array<WebhookView> };
  add_webhook: { arguments: { url: string, events: Array<EventKind> }; reply: string };
  change_webhook: { arguments: { id: string, action: WebhookAction }; reply: null };
  deliveries: { arguments: { id: string }; reply: Array<DeliveryView> };
  retry_delivery: { arguments: { id: string, delivery: string }; reply: null };
};
export type Op = keyof Calls;
/** A call as the program reads it. */
export type Call<O extends Op = Op> = { [K in O]: { op: K } & Calls[K]["arguments"] }[O];

/** Returns the functions that make the calls. Every promise may fail with a `ProgramError`. */
export function createApi(send: <O extends Op>(call: Call<O>) => Promise<Calls[O]["reply"]>) {
  return {
    /** The window has opened and wants everything that is known. */
    start: () => send<"start">({ op: "start" }),
    /** The newest first. */
    activity: (limit: number) => send<"activity">({ op: "activity", limit }),
    /** Pauses one folder, or all. */
    pause: (folder: string | null, span: PauseFor) => send<"pause">({ op: "pause", folder, span }),
    /** Resumes one folder, or all. */
    resume: (folder: string | null) => send<"resume">({ op: "resume", folder }),
    /** Scans all folders again. */
    rescan: () => send<"rescan">({ op: "rescan" }),
    /** Tries again to reach the daemon. */
    retry: () => send<"retry">({ op: "retry" }),
    /** Returns why a path does or does not sync: one below the folder, or absolute; empty for the folder itself. */
    why: (folder: string, path: string) => send<"why">({ op: "why", folder, path }),
    /** Returns a path below the folder; null if the person cancelled. */
    pickFile: (folder: string) => send<"pick_file">({ op: "pick_file", folder }),
    conflict: (folder: string, path: string, copy: string) => send<"conflict">({ op: "conflict", folder, path, copy }),
    resolve: (folder: string, copy: string, keep: Keep) => send<"resolve">({ op: "resolve", folder, copy, keep }),
    /** Decides the deletions, or the overwriting, that waits in a folder. */
    confirm: (folder: string, decision: DeletionDecision) => send<"confirm">({ op: "confirm", folder, decision }),
    folder: (local: string) => send<"folder">({ op: "folder", local }),
    /** Adds it to its team's space, or to the account's own. */
    addFolder: (folder: FolderChoices) => send<"add_folder">({ op: "add_folder", folder }),
    changeFolder: (folder: FolderChoices) => send<"change_folder">({ op: "change_folder", folder }),
    /** In force now, for all folders together. */
    limits: () => send<"limits">({ op: "limits" }),
    removeFolder: (local: string) => send<"remove_folder">({ op: "remove_folder", local }),
    /** The teams of the account, by name. */
    teams: () => send<"teams">({ op: "teams" }),
    /** In the space of a team, by its id, or in the account's own. */
    remoteFolders: (team: string | null, path: string) => send<"remote_folders">({ op: "remote_folders", team, path }),
    /** Folders first, each kind by name. */
    remoteItems: (team: string | null, path: string) => send<"remote_items">({ op: "remote_items", team, path }),
    /** The lines of the folder's rules file. */
    ignore: (folder: string) => send<"ignore">({ op: "ignore", folder }),
    setIgnore: (folder: string, lines: Array<string>) => send<"set_ignore">({ op: "set_ignore", folder, lines }),
    /** Checks a path below the folder as if the rules were these. */
    tryIgnore: (folder: string, lines: Array<string>, path: string) => send<"try_ignore">({ op: "try_ignore", folder, lines, path }),
    reveal: (folder: string, path: string) => send<"reveal">({ op: "reveal", folder, path }),
    openFolder: (folder: string) => send<"open_folder">({ op: "open_folder", folder }),
    /** Null if the person cancelled. */
    pickFolder: () => send<"pick_folder">({ op: "pick_folder" }),
    /** True if it was saved, false if the person cancelled. */
    saveText: (name: string, text: string) => send<"save_text">({ op: "save_text", name, text }),
    /** The newest first. */
    versions: (folder: string, path: string) => send<"versions">({ op: "versions", folder, path }),
    restoreVersion: (folder: string, path: string, revision: string) => send<"restore_version">({ op: "restore_version", folder, path, revision }),
    versionText: (folder: string, path: string, revision: string) => send<"version_text">({ op: "version_text", folder, path, revision }),
    compareVersions: (folder: string, path: string, older: string, newer: string) => send<"compare_versions">({ op: "compare_versions", folder, path, older, newer }),
    /** True if it was saved, false if the person cancelled. */
    saveVersion: (folder: string, path: string, revision: string) => send<"save_version">({ op: "save_version", folder, path, revision }),
    /** Lists the events below a path of a synced folder, the newest first; pages begin with 1. */
    past: (folder: string, path: string, page: number) => send<"past">({ op: "past", folder, path, page }),
    /** Makes it what it was at a time; a dry run returns the plan alone. */
    rewind: (folder: string, path: string, at: string, dry_run: boolean) => send<"rewind">({ op: "rewind", folder, path, at, dry_run }),
    /** Lists the changes of commands on this device and of assistants, the newest first. */
    sessions: () => send<"sessions">({ op: "sessions" }),
    /** Returns what an undo would do; nothing is done. */
    previewUndo: (session: string) => send<"preview_undo">({ op: "preview_undo", session }),
    /** Takes a session or a rewind back; returns what could not be taken back. */
    undo: (session: string) => send<"undo">({ op: "undo", session }),
    /** The newest first. */
    localTrash: () => send<"local_trash">({ op: "local_trash" }),
    /** Returns the path below the folder. */
    restoreLocal: (folder: string, id: string) => send<"restore_local">({ op: "restore_local", folder, id }),
    /** The newest first. */
    remoteTrash: () => send<"remote_trash">({ op: "remote_trash" }),
    /** Returns the path on the service, with another name where its own is in use. */
    restoreRemote: (id: string) => send<"restore_remote">({ op: "restore_remote", id }),
    /** Brings back what was deleted last under a path; returns the path on the service. */
    restoreDeleted: (folder: string, path: string) => send<"restore_deleted">({ op: "restore_deleted", folder, path }),
    /** All links, or those of one synced folder. */
    links: (folder: string | null) => send<"links">({ op: "links", folder }),
    createLink: (target: LinkTarget, choices: LinkChoices) => send<"create_link">({ op: "create_link", target, choices }),
    changeLink: (id: string, action: LinkAction) => send<"change_link">({ op: "change_link", id, action }),
    account: () => send<"account">({ op: "account" }),
    devices: () => send<"devices">({ op: "devices" }),
    /** Returns the number of its logins that ended; none if it uses an API key, which stays valid. */
    removeDevice: (id: string) => send<"remove_device">({ op: "remove_device", id }),
    /** Shuts a device out: ends its logins, and replaces all keys of the account. */
    revokeDevice: (id: string, choices: RevokeChoices) => send<"revoke_device">({ op: "revoke_device", id, choices }),
    /** Takes over keys that another device has replaced; false if this device has them already. */
    updateKeys: (passphrase: string) => send<"update_keys">({ op: "update_keys", passphrase }),
    /** The words that two devices in sync have in common, for each space. */
    compare: () => send<"compare">({ op: "compare" }),
    /** Logs in; sends its steps as events, and ends when the device is logged in. */
    login: (form: LoginForm) => send<"login">({ op: "login", form }),
    /** Returns the step of a login that waits for the passphrase. */
    enterPassphrase: (passphrase: string) => send<"enter_passphrase">({ op: "enter_passphrase", passphrase }),
    /** Ends a login that waits for the person. */
    cancelLogin: () => send<"cancel_login">({ op: "cancel_login" }),
    logout: () => send<"logout">({ op: "logout" }),
    /** Creates a recovery key and returns it. */
    recoverySetup: (passphrase: string) => send<"recovery_setup">({ op: "recovery_setup", passphrase }),
    /** True if there is a recovery key. */
    recoveryStatus: () => send<"recovery_status">({ op: "recovery_status" }),
    /** Returns a new passphrase of random words. */
    generatePassphrase: () => send<"generate_passphrase">({ op: "generate_passphrase" }),
    changePassphrase: (current: string, next: string) => send<"change_passphrase">({ op: "change_passphrase", current, next }),
    config: () => send<"config">({ op: "config" }),
    setConfig: (key: ConfigKey, value: string) => send<"set_config">({ op: "set_config", key, value }),
    autostart: () => send<"autostart">({ op: "autostart" }),
    setAutostart: (tray: boolean, daemon: boolean) => send<"set_autostart">({ op: "set_autostart", tray, daemon }),
    assistantConfig: (assistant: Assistant) => send<"assistant_config">({ op: "assistant_config", assistant }),
    /** Writes it into the program's configuration file, whose other entries stay; returns the file's path. */
    installAssistant: (assistant: Assistant) => send<"install_assistant">({ op: "install_assistant", assistant }),
    /** Saves it where the person chooses; null if the person cancelled. With `names`: names, paths and addresses, too. */
    bugReport: (name: string, names: boolean) => send<"bug_report">({ op: "bug_report", name, names }),
    setSettings: (settings: Settings) => send<"set_settings">({ op: "set_settings", settings }),
    webhooks: () => send<"webhooks">({ op: "webhooks" }),
    /** Returns the secret that signs its deliveries. */
    addWebhook: (url: string, events: Array<EventKind>) => send<"add_webhook">({ op: "add_webhook", url, events }),
    changeWebhook: (id: string, action: WebhookAction) => send<"change_webhook">({ op: "change_webhook", id, action }),
    /** The newest first. */
    deliveries: (id: string) => send<"deliveries">({ op: "deliveries", id }),
    retryDelivery: (id: string, delivery: string) => send<"retry_delivery">({ op: "retry_delivery", id, delivery }),
  };
}
