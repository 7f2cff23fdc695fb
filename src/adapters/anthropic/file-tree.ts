import { posix } from "node:path";

const ROOT = "/memories";
/** Levels below a folder that a listing shows. */
const LISTED_LEVELS = 2;
/** Bytes of a path. Longer names fit into no metadata that is indexed. */
const MOST_PATH_BYTES = 480;

/** A file, or a memory that represents an empty folder. */
interface TreeEntry {
  readonly id: string;
  readonly content: string;
}

/** The files of a user's memory. Places are absolute paths without "." and "..". */
export interface FileTree {
  readonly root: string;
  readonly files: ReadonlyMap<string, TreeEntry>;
  /** All folders, with the root. */
  readonly folders: ReadonlySet<string>;
  /** Memories that represent empty folders; their places end with "/". */
  readonly markers: ReadonlyMap<string, TreeEntry>;
  /** Files and markers at or under a place. */
  entriesUnder(place: string): (readonly [string, TreeEntry])[];
  idsUnder(place: string): string[];
  /** What a listing of a folder shows, in order. */
  list(folder: string): { readonly size: string; readonly name: string }[];
}

/** Reads the files of a memory. */
export async function loadTree(memory: FileMemory): Promise<FileTree> {
  const files = new Map<string, TreeEntry>();
  const markers = new Map<string, TreeEntry>();
  const folders = new Set([ROOT]);
  const stored = memory.list({ where: { memory_file: { $exists: true } }, limit: 1000 });
  for await (const { id, text, metadata } of stored) {
    const place = String(metadata?.memory_file);
    const isMarker = place.endsWith("/");
    const content = isMarker ? "" : text.slice(place.length + 1);
    (isMarker ? markers : files).set(place, { id, content });
    const first = isMarker ? place.slice(0, -1) : parentOf(place);
    for (let folder = first; folder.length > ROOT.length; folder = parentOf(folder)) folders.add(folder);
  }
  const entriesUnder = (place: string) => [...files, ...markers].filter(([one]) => isUnder(one, place));
  return {
    root: ROOT,
    files,
    folders,
    markers,
    entriesUnder,
    idsUnder: (place) => entriesUnder(place).map(([, { id }]) => id),
    list: (folder) => listFolder({ files, folders }, folder, "", 1),
  };
}

/** The text of the memory that holds a file: its place, then its content. */
export function toFileText(place: string, content: string): string {
  return place.endsWith("/") ? place : `${place}\n${content}`;
}

/** Whether a place is another, or in it. */
export function isUnder(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}

export function parentOf(place: string): string {
  return place.slice(0, Math.max(ROOT.length, place.lastIndexOf("/")));
}

/** Gives the place that a path of the model means. Throws if it lies outside `/memories`, or under a file. */
export function resolvePath(tree: Pick<FileTree, "files">, path: string): string {
  if (!path.startsWith(ROOT)) throw new Error(`Path must start with /memories, got: ${path}`);
  const place = posix.resolve(posix.join(ROOT, path.slice(ROOT.length).replace(/^\//, "")));
  if (!isUnder(place, ROOT)) throw new Error(`Path ${path} would escape /memories directory`);
  if (Buffer.byteLength(place) > MOST_PATH_BYTES) throw new Error(`Path ${path} is too long`);
  for (let folder = parentOf(place); folder.length > ROOT.length; folder = parentOf(folder))
    if (tree.files.has(folder)) throw new Error(`The path ${path} lies under a file`);
  return place;
}

function listFolder(
  tree: Pick<FileTree, "files" | "folders">,
  folder: string,
  prefix: string,
  level: number,
): { size: string; name: string }[] {
  const inside = [...tree.files.keys(), ...tree.folders].filter(
    (place) => place !== folder && parentOf(place) === folder,
  );
  return [...new Set(inside)].toSorted().flatMap((place) => {
    const name = place.slice(folder.length + 1);
    if (name.startsWith(".") || name === "node_modules") return [];
    const file = tree.files.get(place);
    if (file) return [{ size: formatSize(Buffer.byteLength(file.content)), name: prefix + name }];
    const below = level < LISTED_LEVELS ? listFolder(tree, place, `${prefix}${name}/`, level + 1) : [];
    return [{ size: "4K", name: `${prefix}${name}/` }, ...below];
  });
}

const UNITS = ["B", "K", "M", "G"];

function formatSize(bytes: number): string {
  if (bytes === 0) return "0B";
  const unit = Math.floor(Math.log(bytes) / Math.log(1024));
  const size = bytes / 1024 ** unit;
  return `${size % 1 === 0 ? size : size.toFixed(1)}${UNITS[unit]}`;
}

/** A memory that holds a file or an empty folder. */
interface StoredFile {
  readonly id: string;
  readonly text: string;
  readonly metadata?: { readonly [field: string]: unknown };
}

/** The calls of a user's memory that the handlers use. `memory.scope({ user })` has them. */
export interface FileMemory {
  list(options: {
    readonly where: { readonly [field: string]: { readonly $exists: boolean } };
    readonly limit: number;
  }): AsyncIterable<StoredFile>;
  add(memory: { text: string; kind: "context"; metadata: { [field: string]: string } }): Promise<unknown>;
  update(id: string, changes: { text: string; metadata: { [field: string]: string } }): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  forget(what: { readonly ids: readonly string[] }): Promise<unknown>;
}
