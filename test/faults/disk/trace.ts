import { readFileSync } from "node:fs";

/** What a traced program did to its folder, in the order in which the calls returned. `from`: the line where the call began. */
export type DiskEvent = {
  readonly at: number;
  readonly from: number;
} /** Offset -1 is the end of the file. */ & (
  | { readonly type: "write"; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: "truncate"; readonly file: string; readonly size: number }
  | { readonly type: "sync"; readonly file: string }
  | { readonly type: "create"; readonly file: string; readonly isEmptied: boolean }
  | { readonly type: "unlink"; readonly file: string }
  | { readonly type: "rename" | "link"; readonly file: string; readonly to: string }
  | { readonly type: "syncFolder" }
  /** An answer to a request, or a mark of the workload: it counts where the call began. */
  | { readonly type: "acknowledge"; readonly id: string; readonly status: number }
  | { readonly type: "map"; readonly file: string }
);

/** The system calls that `readTrace` understands, for `strace -e trace=`. */
export const TRACED_CALLS: string =
  "pwrite64,write,writev,pwritev,sendmsg,sendto,fsync,fdatasync,sync_file_range,ftruncate,truncate,fallocate,unlink,unlinkat," +
  "rename,renameat,renameat2,link,linkat,openat,creat,mmap,copy_file_range,sendfile";

const ANSWER = hexOf("HTTP/1.1 ");
const MARK = hexOf("MARK ");

function hexOf(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/** Reads what `strace -f -y -xx -o FILE` wrote, as far as it touches the folder, and the answers of the server. */
export function readTrace(file: string, folder: string): DiskEvent[] {
  const events: DiskEvent[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly from: number }>();
  const inFolder = hexOf(folder);
  let at = 0;
  for (const line of linesOf(readFileSync(file))) {
    at += 1;
    const space = line.indexOf(" ");
    const thread = line.slice(0, space);
    let call = line.slice(space).trimStart();
    let from = at;
    if (call.endsWith("<unfinished ...>")) {
      unfinished.set(thread, { text: call.slice(0, -"<unfinished ...>".length), from: at });
      continue;
    }
    if (call.startsWith("<... ")) {
      const begun = unfinished.get(thread);
      if (!begun) continue;
      unfinished.delete(thread);
      call = `${begun.text}${call.slice(call.indexOf("resumed>") + "resumed>".length)}`;
      from = begun.from;
    }
    const isOurs = call.includes(inFolder);
    if (!isOurs && !call.includes(ANSWER) && !call.includes(MARK)) continue;
    const event = eventOf(call, folder);
    if (event) events.push({ ...event, at, from } as DiskEvent);
  }
  return events;
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end === -1 ? bytes.length : end;
    yield bytes.toString("latin1", start, stop);
    start = stop + 1;
  }
}

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, "at" | "from"> : never;

type Parsed = WithoutPlace<DiskEvent> | undefined;

/** A call that returned without an error. */
interface Call {
  readonly name: string;
  /** The whole line, from the name on. */
  readonly text: string;
  /** What it returned: how many bytes, mostly. */
  readonly result: number;
  readonly folder: string;
  /** The file behind its descriptor, where that is in the folder: "" is the folder itself. */
  readonly file: string | undefined;
}

function eventOf(text: string, folder: string): Parsed {
  // Refused: nothing happened.
  if (/\) += -1 E/.test(text.slice(-200))) return undefined;
  const name = text.slice(0, text.indexOf("("));
  const acknowledged = /^(?:write|writev|sendmsg|sendto)$/.test(name) ? answerIn(text) : undefined;
  if (acknowledged) return acknowledged;
  const read = READERS[name];
  if (!read) throw new Error(`The trace holds ${name}, which the model of the disk does not know.`);
  const result = Number.parseInt(text.slice(text.lastIndexOf(" = ") + 3), 10);
  return read({ name, text, result, folder, file: fileBehind(text, folder) });
}

/** Nothing for a file that has no name any more: what is written there is lost with the program. */
function fileBehind(text: string, folder: string): string | undefined {
  const handle = /^[a-z0-9_]+\((\d+)<((?:\\x[0-9a-f]{2})+)>(\(deleted\))?/.exec(text.slice(0, 2000));
  if (!handle || handle[3] !== undefined) return undefined;
  const path = textOf(handle[2] ?? "");
  return path.endsWith(" (deleted)") ? undefined : nameIn(path, folder);
}

const readAppend = ({ file, text, result }: Call): Parsed => {
  if (!file) return undefined;
  const bytes = Buffer.concat(stringsIn(text).map(bytesOf)).subarray(0, result);
  return { type: "write", file, offset: -1, bytes };
};

const readWriteAt = ({ file, text, result }: Call): Parsed => {
  if (file === undefined) return undefined;
  const bytes = Buffer.concat(stringsIn(text).map(bytesOf)).subarray(0, result);
  return { type: "write", file, offset: lastNumberIn(text), bytes };
};

const readSync = ({ file }: Call): Parsed => {
  if (file === undefined) return undefined;
  return file === "" ? { type: "syncFolder" } : { type: "sync", file };
};

const readUnlink = ({ text, folder }: Call): Parsed => {
  const [file] = namesIn(text, folder);
  return file === undefined ? undefined : { type: "unlink", file };
};

const readTwoNames = ({ name, text, folder }: Call): Parsed => {
  const [file = "", to = ""] = namesIn(text, folder);
  return { type: name.startsWith("rename") ? "rename" : "link", file, to };
};

const READERS: { readonly [name: string]: (call: Call) => Parsed } = {
  openat({ text, folder }) {
    const [file] = namesIn(text, folder);
    if (!file || !/O_CREAT|O_TRUNC/.test(text)) return undefined;
    return { type: "create", file, isEmptied: text.includes("O_TRUNC") };
  },
  pwrite64: readWriteAt,
  pwritev: readWriteAt,
  // To another program, which is not told to disk.
  sendmsg: () => undefined,
  sendto: () => undefined,
  write: readAppend,
  writev: readAppend,
  fsync: readSync,
  fdatasync: readSync,
  ftruncate: ({ file, text }) =>
    file === undefined ? undefined : { type: "truncate", file, size: lastNumberIn(text) },
  unlink: readUnlink,
  unlinkat: readUnlink,
  rename: readTwoNames,
  renameat: readTwoNames,
  renameat2: readTwoNames,
  link: readTwoNames,
  linkat: readTwoNames,
  mmap({ text, folder }) {
    const mapped = /\d+<((?:\\x[0-9a-f]{2})+)>/.exec(text.slice(0, 2000));
    const file = nameIn(textOf(mapped?.[1] ?? ""), folder);
    const isWritten = text.includes("PROT_WRITE") && text.includes("MAP_SHARED");
    return file === undefined || !isWritten ? undefined : { type: "map", file };
  },
};

function stringsIn(text: string): string[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)].map(wholeString);
}

function namesIn(text: string, folder: string): (string | undefined)[] {
  return stringsIn(text).map((one) => nameIn(textOf(one), folder));
}

/** The last argument. */
function lastNumberIn(text: string): number {
  return Number(/, (\d+)\s*\) += /.exec(text.slice(-80))?.[1]);
}

function wholeString(match: RegExpMatchArray): string {
  if (match[2] !== undefined) throw new Error("A string in the trace was cut off: strace needs a larger -s.");
  return match[1] ?? "";
}

function answerIn(call: string): WithoutPlace<DiskEvent> | undefined {
  if (call.includes(MARK)) {
    const id = textOf(/"((?:\\x[0-9a-f]{2})+)/.exec(call)?.[1] ?? "")
      .slice("MARK ".length)
      .trim();
    return { type: "acknowledge", id, status: 200 };
  }
  if (!call.includes(ANSWER)) return undefined;
  const head = textOf(call.slice(call.indexOf(ANSWER)).split('"')[0] ?? "");
  const id = /x-request-id: (\S+)/i.exec(head)?.[1];
  const status = Number(head.slice(9, 12));
  return id === undefined ? undefined : { type: "acknowledge", id, status };
}

function nameIn(path: string, folder: string): string | undefined {
  const plain = path.replace(/ \(deleted\)$/, "");
  if (plain === folder) return "";
  return plain.startsWith(`${folder}/`) ? plain.slice(folder.length + 1) : undefined;
}

function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll("\\x", ""), "hex");
}

function textOf(escaped: string): string {
  return bytesOf(escaped).toString("utf8");
}
