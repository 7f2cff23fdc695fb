import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DiskEvent } from "./trace.ts";

const SECTOR = 512;

/** The chances by which a disk keeps what was not synced. */
const KEPT = 0.5;
const TORN = 0.3;
const REORDERED = 0.2;
/** How often something stands where the shared memory was; SQLite makes it anew, whatever it holds. */
const STALE_SHARED_MEMORY = 0.5;

type FileChange =
  | { readonly type: "write"; readonly offset: number; readonly bytes: Buffer; readonly at: number }
  | { readonly type: "truncate"; readonly size: number; readonly at: number };

/** A file as the disk has it: what is certain, and what may or may not be there. */
interface DiskFile {
  certain: Buffer;
  /** Its size as programs see it. */
  size: number;
  pending: FileChange[];
}

type NameChange = { readonly at: number } & (
  | { readonly type: "put"; readonly name: string; readonly file: DiskFile }
  | { readonly type: "move"; readonly name: string; readonly to: string; readonly file: DiskFile }
  | { readonly type: "drop"; readonly name: string }
);

/** A disk on which a trace is played, event by event. */
export interface SimulatedDisk {
  play(event: DiskEvent): void;
  /** Whether a file was given bytes of which no copy is certain yet, in it or in the other file. */
  hasUnsynced(file: string, bytes: Buffer, other?: string): boolean;
  /** Whether a name stands in the folder whatever happens now. */
  isCertain(file: string): boolean;
  /** Writes into a folder what the disk may hold if the power goes now. */
  cutInto(folder: string, draw: () => number): void;
}

interface Names {
  /** As programs see them. */
  readonly seen: Map<string, DiskFile>;
  readonly certain: Map<string, DiskFile>;
  pending: NameChange[];
}

/**
 * A disk that promises what POSIX does and no more: content is certain after the file's own sync, names after the folder's. The
 * shared memory of SQLite (`-shm`) is not simulated: it is mapped, never synced, and made anew by who opens the database first.
 */
export function simulatedDisk(): SimulatedDisk {
  const names: Names = { seen: new Map(), certain: new Map(), pending: [] };
  return {
    play(event) {
      if ("file" in event && event.file.endsWith("-shm")) return;
      if (
        event.type === "create" ||
        event.type === "syncFolder" ||
        "to" in event ||
        event.type === "unlink"
      ) {
        playName(names, event);
      } else if (event.type === "write" || event.type === "truncate" || event.type === "sync") {
        playContent(fileNamed(names, event.file), event);
      }
    },
    hasUnsynced(name, bytes, other = "") {
      const isPending = names.seen
        .get(name)
        ?.pending.some((one) => one.type === "write" && one.bytes.includes(bytes));
      return isPending === true && ![name, other].some((one) => names.seen.get(one)?.certain.includes(bytes));
    },
    isCertain: (name) => names.certain.has(name),
    cutInto(folder, draw) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const left = new Map(names.certain);
      for (const one of names.pending) if (draw() < KEPT) apply(left, one);
      for (const [name, file] of left) {
        writeFileSync(join(folder, name), contentOf(file.certain, survivors(file.pending, draw)));
      }
      if (draw() < STALE_SHARED_MEMORY) writeFileSync(join(folder, "memory.db-shm"), noise(draw));
    },
  };
}

function fileNamed({ seen }: Names, name: string): DiskFile {
  const file = seen.get(name);
  if (!file) throw new Error(`The trace writes to ${name}, which it never made.`);
  return file;
}

function playContent(
  file: DiskFile,
  event: Extract<DiskEvent, { readonly type: "write" | "truncate" | "sync" }>,
): void {
  const { at } = event;
  if (event.type === "truncate") {
    truncate(file, event.size, at);
    return;
  }
  if (event.type === "write") {
    const offset = event.offset === -1 ? file.size : event.offset;
    file.pending.push({ type: "write", offset, bytes: event.bytes, at });
    file.size = Math.max(file.size, offset + event.bytes.length);
    return;
  }
  // What another thread wrote while the sync ran may have come too late for it.
  const synced = file.pending.filter((one) => one.at < event.from);
  file.certain = contentOf(file.certain, synced);
  file.pending = file.pending.filter((one) => one.at >= event.from);
}

function playName(
  names: Names,
  event: Extract<DiskEvent, { readonly type: "create" | "link" | "rename" | "unlink" | "syncFolder" }>,
): void {
  const { at } = event;
  const change = (one: NameChange): void => {
    names.pending.push(one);
    apply(names.seen, one);
  };
  if (event.type === "syncFolder") {
    for (const one of names.pending.filter((one) => one.at < event.from)) apply(names.certain, one);
    names.pending = names.pending.filter((one) => one.at >= event.from);
  } else if (event.type === "unlink") change({ type: "drop", name: event.file, at });
  else if (event.type === "create") {
    const held = names.seen.get(event.file);
    if (!held) change({ type: "put", name: event.file, file: emptyFile(), at });
    else if (event.isEmptied) truncate(held, 0, at);
  } else {
    const type = event.type === "link" ? "put" : "move";
    const file = fileNamed(names, event.file);
    change(
      type === "put"
        ? { type, name: event.to, file, at }
        : { type, name: event.file, to: event.to, file, at },
    );
  }
}

function emptyFile(): DiskFile {
  return { certain: Buffer.alloc(0), size: 0, pending: [] };
}

function truncate(file: DiskFile, size: number, at: number): void {
  file.pending.push({ type: "truncate", size, at });
  file.size = size;
}

function apply(names: Map<string, DiskFile>, change: NameChange): void {
  if (change.type === "drop") names.delete(change.name);
  else if (change.type === "put") names.set(change.name, change.file);
  else {
    names.delete(change.name);
    names.set(change.to, change.file);
  }
}

/** Of what was not synced, what the disk wrote all the same: some of it torn, some in another order. */
function survivors(pending: readonly FileChange[], draw: () => number): FileChange[] {
  const kept = pending
    .filter(() => draw() < KEPT)
    .flatMap((one) => (draw() < TORN ? tear(one, draw) : [one]));
  if (draw() >= REORDERED) return kept;
  return kept
    .map((one) => ({ one, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}

/** Each sector is written whole or not at all, and any of them may be missing. */
function tear(change: FileChange, draw: () => number): FileChange[] {
  if (change.type === "truncate") return [change];
  const { offset, bytes, at } = change;
  const pieces: FileChange[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR - ((offset + from) % SECTOR));
    if (draw() < KEPT)
      pieces.push({ type: "write", offset: offset + from, bytes: bytes.subarray(from, to), at });
    from = to;
  }
  return pieces;
}

function contentOf(certain: Buffer, changes: readonly FileChange[]): Buffer {
  if (changes.length === 0) return certain;
  const most = changes.reduce(
    (size, one) => Math.max(size, one.type === "write" ? one.offset + one.bytes.length : one.size),
    certain.length,
  );
  const content = Buffer.alloc(most);
  certain.copy(content);
  let size = certain.length;
  for (const one of changes) {
    if (one.type === "truncate") {
      content.fill(0, Math.min(one.size, size));
      size = one.size;
    } else {
      one.bytes.copy(content, one.offset);
      size = Math.max(size, one.offset + one.bytes.length);
    }
  }
  return content.subarray(0, size);
}

function noise(draw: () => number): Buffer {
  return Buffer.from(Array.from({ length: 4096 }, () => Math.floor(draw() * 256)));
}
