// The pictures, as SVG paths on a square of 20 units, and which of them stands for a file.

const PAGE = "M5 2.5 H11.5 L15.5 6.5 V16.5 a1 1 0 0 1 -1 1 H5.5 a1 1 0 0 1 -1 -1 V3.5 a1 1 0 0 1 .5 -1 Z";

export const ICONS = {
  // Pages.
  overview: "M3 9.5 L10 3.5 L17 9.5 M5 8 V16.5 H8.5 V12 H11.5 V16.5 H15 V8",
  activity: "M2.5 10.5 H6 L8.2 4.5 L11.8 15.5 L14 10.5 H17.5",
  attention: "M10 3 L18 16.5 H2 Z M10 8 V11.8 M10 14.1 V14.2",
  folders:
    "M2.5 6.5 V15 a1 1 0 0 0 1 1 H16.5 a1 1 0 0 0 1 -1 V8 a1 1 0 0 0 -1 -1 H10 L8.2 5 H3.5 a1 1 0 0 0 -1 1 Z",
  links:
    "M8.5 11.5 a3 3 0 0 0 4.2 0 L15.8 8.4 a3 3 0 0 0 -4.2 -4.2 L10.4 5.4 M11.5 8.5 a3 3 0 0 0 -4.2 0 L4.2 11.6 a3 3 0 0 0 4.2 4.2 L9.6 14.6",
  trash: "M3.5 5.5 H16.5 M8 5.5 V3.5 H12 V5.5 M5 5.5 L5.8 16.5 H14.2 L15 5.5 M8.3 8.5 V13.5 M11.7 8.5 V13.5",
  devices: "M3 4.5 H14 V11.5 H3 Z M1.5 14 H11 M12.5 8.5 H18 V16.5 H12.5 Z M15.2 14.3 V14.4",
  settings:
    "M3 5.5 H9 M13 5.5 H17 M11 3.5 V7.5 M3 10 H5 M9 10 H17 M7 8 V12 M3 14.5 H10 M14 14.5 H17 M12 12.5 V16.5",
  // Actions.
  folder:
    "M2.5 5.5 V15 a1 1 0 0 0 1 1 H16.5 a1 1 0 0 0 1 -1 V7.5 a1 1 0 0 0 -1 -1 H10 L8.2 4.5 H3.5 a1 1 0 0 0 -1 1 Z",
  history: "M3.5 10 A6.5 6.5 0 1 0 5.4 5.4 L3.5 7.3 M3.5 3.5 V7.3 H7.3 M10 6.5 V10.2 L12.6 11.8",
  restore: "M4 9 L7.5 5.5 M4 9 L7.5 12.5 M4 9 H12 a4 4 0 0 1 0 8 H9",
  why: "M10 2.5 a7.5 7.5 0 1 0 0.01 0 Z M7.8 8 a2.2 2.2 0 1 1 3.2 1.9 c-.7 .4 -1 .8 -1 1.8 M10 14 V14.1",
  back: "M13 4 L7 10 L13 16",
  assistant: "M10 2.5 L11.8 8.2 L17.5 10 L11.8 11.8 L10 17.5 L8.2 11.8 L2.5 10 L8.2 8.2 Z",
  command: "M3 4 H17 V16 H3 Z M6 8 L8.5 10.2 L6 12.4 M10 13 H13.5",
  open: "M7 4 L13 10 L7 16",
  close: "M4 7 L10 13 L16 7",
  // Kinds of files.
  file: PAGE,
  text: `${PAGE} M7.5 9.5 H12.5 M7.5 12 H12.5 M7.5 14.5 H10.5`,
  code: `${PAGE} M8.6 9.5 L6.8 11.5 L8.6 13.5 M11.4 9.5 L13.2 11.5 L11.4 13.5`,
  table: `${PAGE} M7 9.5 H13 V14.5 H7 Z M7 12 H13 M10 9.5 V14.5`,
  archive: `${PAGE} M10 4.5 V5.5 M10 7.5 V8.5 M8.7 10.5 H11.3 V14 H8.7 Z`,
  image: "M3 4 H17 V16 H3 Z M3 13.5 L7.5 9 L11.5 13 L13.5 11 L17 14.5 M13.3 7.3 V7.4",
  video: "M3 4.5 H17 V15.5 H3 Z M8.3 7.5 L12.5 10 L8.3 12.5 Z",
  audio:
    "M7.5 14.5 V5 L15.5 3.5 V13 M7.5 14.5 a2 2 0 1 1 -4 0 a2 2 0 0 1 4 0 M15.5 13 a2 2 0 1 1 -4 0 a2 2 0 0 1 4 0",
} as const;

export type IconName = keyof typeof ICONS;

const KINDS: Partial<Record<IconName, string>> = {
  image: "avif bmp gif heic ico jpeg jpg png raw svg tif tiff webp",
  video: "avi m4v mkv mov mp4 mpeg mpg ogv webm wmv",
  audio: "aac aiff flac m4a mid mp3 oga ogg opus wav wma",
  archive: "7z bz2 deb gz iso jar rar rpm tar tgz xz zip zst",
  table: "csv numbers ods tsv xls xlsx",
  text: "doc docx epub md odp odt pages pdf ppt pptx rst rtf tex txt",
  code: "c cpp cs css go h html java js json kt lua php pl py rb rs sh sql svelte swift toml ts xml yaml yml",
};

const BY_EXTENSION = new Map(
  Object.entries(KINDS).flatMap(([icon, words]) => words.split(" ").map((word) => [word, icon as IconName])),
);

/** The picture for a file, by the end of its name. */
export function iconOf(path: string): IconName {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (dot > 0 && BY_EXTENSION.get(name.slice(dot + 1).toLowerCase())) || "file";
}
