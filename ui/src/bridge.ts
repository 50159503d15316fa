// The one file that speaks with the program around the window.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type {
  AccountView,
  ActivityView,
  Assistant,
  AssistantConfig,
  AutostartView,
  Call,
  ConflictDetail,
  DeliveryView,
  DeviceView,
  Fault,
  FolderChoices,
  KeepView,
  LoginForm,
  PauseFor,
  Place,
  RemoteFolder,
  Settings,
  Start,
  VerdictView,
  VersionView,
  View,
  WebhookAct,
  WebhookView,
} from "./types";

function call<T>(request: Call): Promise<T> {
  return invoke<T>("call", { call: request });
}

/** What the window can ask for. Every promise may fail with a `Fault`. */
export const ask = {
  start: () => call<Start>({ op: "start" }),
  activity: (limit: number) => call<ActivityView[]>({ op: "activity", limit }),
  pause: (span: PauseFor) => call<null>({ op: "pause", span }),
  resume: () => call<null>({ op: "resume" }),
  rescan: () => call<null>({ op: "rescan" }),
  retry: () => call<null>({ op: "retry" }),
  conflict: (folder: string, path: string, copy: string) =>
    call<ConflictDetail>({ op: "conflict", folder, path, copy }),
  resolve: (folder: string, copy: string, keep: KeepView) =>
    call<null>({ op: "resolve", folder, copy, keep }),
  confirm: (folder: string, remove: boolean) => call<null>({ op: "confirm", folder, delete: remove }),
  folder: (local: string) => call<FolderChoices>({ op: "folder", local }),
  addFolder: (folder: FolderChoices) => call<unknown>({ op: "add_folder", folder }),
  changeFolder: (folder: FolderChoices) => call<null>({ op: "change_folder", folder }),
  removeFolder: (local: string) => call<null>({ op: "remove_folder", local }),
  remoteFolders: (path: string) => call<RemoteFolder[]>({ op: "remote_folders", path }),
  ignore: (folder: string) => call<string[]>({ op: "ignore", folder }),
  setIgnore: (folder: string, lines: string[]) => call<null>({ op: "set_ignore", folder, lines }),
  tryIgnore: (folder: string, lines: string[], path: string) =>
    call<VerdictView>({ op: "try_ignore", folder, lines, path }),
  reveal: (folder: string, path: string) => call<null>({ op: "reveal", folder, path }),
  openFolder: (folder: string) => call<null>({ op: "open_folder", folder }),
  pickFolder: () => call<string | null>({ op: "pick_folder" }),
  saveText: (name: string, text: string) => call<boolean>({ op: "save_text", name, text }),
  versions: (folder: string, path: string) => call<VersionView[]>({ op: "versions", folder, path }),
  restoreVersion: (folder: string, path: string, revision: string) =>
    call<null>({ op: "restore_version", folder, path, revision }),
  account: () => call<AccountView>({ op: "account" }),
  devices: () => call<DeviceView[]>({ op: "devices" }),
  login: (form: LoginForm) => call<unknown>({ op: "login", form }),
  cancelLogin: () => call<null>({ op: "cancel_login" }),
  logout: () => call<unknown>({ op: "logout" }),
  recoverySetup: (passphrase: string) => call<string>({ op: "recovery_setup", passphrase }),
  recoveryStatus: () => call<boolean>({ op: "recovery_status" }),
  changePassphrase: (present: string, next: string) =>
    call<null>({ op: "change_passphrase", present, new: next }),
  config: () => call<Record<string, unknown>>({ op: "config" }),
  setConfig: (key: string, value: string) => call<unknown>({ op: "set_config", key, value }),
  autostart: () => call<AutostartView>({ op: "autostart" }),
  setAutostart: (tray: boolean, daemon: boolean) => call<null>({ op: "set_autostart", tray, daemon }),
  assistantConfig: (assistant: Assistant) => call<AssistantConfig>({ op: "assistant_config", assistant }),
  webhooks: () => call<WebhookView[]>({ op: "webhooks" }),
  addWebhook: (url: string, events: string[]) => call<string>({ op: "add_webhook", url, events }),
  actWebhook: (id: string, act: WebhookAct) => call<null>({ op: "act_webhook", id, act }),
  deliveries: (id: string) => call<DeliveryView[]>({ op: "deliveries", id }),
  retryDelivery: (id: string, delivery: string) => call<null>({ op: "retry_delivery", id, delivery }),
  setSettings: (settings: Settings) => call<null>({ op: "set_settings", settings }),
};

/** Listens to what the program tells by itself. */
export async function hear(ears: {
  view: (view: View) => void;
  activity: (rows: ActivityView[]) => void;
  place: (place: Place) => void;
}): Promise<void> {
  await Promise.all([
    listen<View>("view", (event) => ears.view(event.payload)),
    listen<ActivityView[]>("activity", (event) => ears.activity(event.payload)),
    listen<Place>("place", (event) => ears.place(event.payload)),
  ]);
}

/** What to say about a failed request. */
export function reason(error: unknown): string {
  const fault = error as Partial<Fault> | null;
  return typeof fault?.message === "string" ? fault.message : String(error);
}
