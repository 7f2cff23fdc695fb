import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { MemoryError, type MemoryStore } from "keepsake";
import { createInMemoryStore } from "keepsake/adapters/memory";

/**
 * A memory store that keeps everything in one file of JSON lines: a dump, then one line per write since.
 * Opening reads the file into memory; reads never touch it.
 *
 * A toy, to show what a store has to do. One process at a time may open a file, and nothing checks that. All
 * users are in memory. An erasure rewrites the whole file. Leases and search indexes end with the process. The
 * store has no webhooks, because a dump does not contain them. It has no maintenance, no row digests, no file
 * copies and no feed of erasures.
 */
export async function openJsonLinesStore(file: string): Promise<MemoryStore> {
  const { webhooks: _lacking, ...memory } = createInMemoryStore();
  const dump = requireCapability(memory, "dump");
  const writes = listWrites(memory);
  if (existsSync(file)) await replay(file, writes);
  const journal = await openJournal(file, memory, dump);
  /** Runs a write in memory, which checks it, and then makes it durable. */
  const keep = <Name extends keyof Writes>(name: Name): Writes[Name] => {
    const run = (...args: unknown[]): Promise<unknown> =>
      journal.inTurn(async () => {
        const result = await (writes[name] as Write)(...args);
        journal.append(name, args);
        return result;
      });
    return run as Writes[Name];
  };
  return {
    ...memory,
    name: "json lines",
    commit: (scope, changes) =>
      journal.inTurn(async () => {
        const revision = await memory.commit(scope, changes);
        // The lines before an erasure contain what it erases.
        if (changes.erase) await journal.compact();
        else journal.append("commit", [scope, changes]);
        return revision;
      }),
    erasures: {
      ...memory.erasures,
      seal: keep("erasures.seal"),
      scrub: (scope, texts, samples) =>
        journal.inTurn(async () => {
          await journal.compact();
          const places = await memory.erasures.scrub(scope, texts, samples);
          // The file is a dump of what memory holds, or it could not be written as it should be.
          const isCurrent = readFileSync(file, "utf8") === (await toDumpLines(memory, dump));
          return [...places, { place: "file", found: isCurrent ? 0 : texts.length }];
        }),
    },
    recallReceipts: {
      ...memory.recallReceipts,
      save: keep("recallReceipts.save"),
      clear: keep("recallReceipts.clear"),
    },
    usage: { ...requireCapability(memory, "usage"), add: keep("usage.add") },
    sharing: { ...requireCapability(memory, "sharing"), apply: keep("sharing.apply") },
    embedders: {
      ...requireCapability(memory, "embedders"),
      save: keep("embedders.save"),
      remove: keep("embedders.remove"),
    },
    backups: { ...memory.backups, save: keep("backups.save") },
    jobs: {
      ...memory.jobs,
      saveProgress: keep("jobs.saveProgress"),
      saveJobRun: keep("jobs.saveJobRun"),
    },
    answers: {
      beginAnswer: keep("answers.beginAnswer"),
      endAnswer: keep("answers.endAnswer"),
      releaseAnswer: keep("answers.releaseAnswer"),
      dropAnswers: keep("answers.dropAnswers"),
    },
    dump: {
      ...dump,
      beginCopy: keep("dump.beginCopy"),
      putRows: keep("dump.putRows"),
      saveCopyProgress: keep("dump.saveCopyProgress"),
      finishCopy: keep("dump.finishCopy"),
    },
    async close() {
      await journal.close();
      await memory.close();
    },
  };
}

type Dump = NonNullable<MemoryStore["dump"]>;
type Write = (...args: unknown[]) => Promise<unknown>;
type Writes = ReturnType<typeof listWrites>;

interface Journal {
  /** Runs work after all earlier work, so that lines are in the order of the writes. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Appends a write. It is durable before this returns. */
  append(name: keyof Writes, args: readonly unknown[]): void;
  /** Replaces the file by a dump, so that no older line remains. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

async function openJournal(file: string, memory: MemoryStore, dump: Dump): Promise<Journal> {
  let output: number | undefined = await rewrite(file, memory, dump);
  let last: Promise<unknown> = Promise.resolve();
  const release = (): void => {
    if (output !== undefined) closeSync(output);
    output = undefined;
  };
  const getOutput = (): number => {
    if (output === undefined) throw createUnavailableError();
    return output;
  };
  /** After a failed write, memory is ahead of the file, so nothing more is written. */
  const orRelease = (error: unknown): never => {
    release();
    throw createUnavailableError(error);
  };
  const enqueue = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
  return {
    inTurn: (work) =>
      enqueue(async () => {
        getOutput();
        return work();
      }),
    append(name, args) {
      try {
        writeDurably(getOutput(), `${toJson({ name, args })}\n`);
      } catch (error) {
        orRelease(error);
      }
    },
    async compact() {
      release();
      output = await rewrite(file, memory, dump).catch(orRelease);
    },
    close: () => enqueue(async () => release()),
  };
}

function createUnavailableError(cause?: unknown): MemoryError {
  return new MemoryError("unavailable", "the file is closed, or a write to it failed. Open it again.", {
    cause,
  });
}

/** A capability of the store in memory, which has all that this store offers. */
function requireCapability<Name extends "dump" | "usage" | "sharing" | "embedders">(
  memory: MemoryStore,
  name: Name,
): NonNullable<MemoryStore[Name]> {
  const capability = memory[name];
  if (!capability) throw new MemoryError("unsupported", `the store in memory lacks "${name}".`);
  return capability;
}

/** Every call that changes what the file keeps, by its name in a line of the file. */
function listWrites(memory: MemoryStore) {
  const { commit, erasures, recallReceipts, backups, jobs, answers } = memory;
  const dump = requireCapability(memory, "dump");
  const embedders = requireCapability(memory, "embedders");
  return {
    commit,
    "erasures.seal": erasures.seal,
    "recallReceipts.save": recallReceipts.save,
    "recallReceipts.clear": recallReceipts.clear,
    "usage.add": requireCapability(memory, "usage").add,
    "sharing.apply": requireCapability(memory, "sharing").apply,
    "embedders.save": embedders.save,
    "embedders.remove": embedders.remove,
    "backups.save": backups.save,
    "jobs.saveProgress": jobs.saveProgress,
    "jobs.saveJobRun": jobs.saveJobRun,
    "answers.beginAnswer": answers.beginAnswer,
    "answers.endAnswer": answers.endAnswer,
    "answers.releaseAnswer": answers.releaseAnswer,
    "answers.dropAnswers": answers.dropAnswers,
    "dump.beginCopy": dump.beginCopy,
    "dump.putRows": dump.putRows,
    "dump.saveCopyProgress": dump.saveCopyProgress,
    "dump.finishCopy": dump.finishCopy,
  };
}

/** Repeats the writes of a file. A last line without an end was cut off by a crash, and was never acknowledged. */
async function replay(file: string, writes: Writes): Promise<void> {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  for (const line of lines) {
    const { name, args } = fromJson(line) as { readonly name: string; readonly args: unknown[] };
    const write = (writes as { readonly [name: string]: unknown })[name] as Write | undefined;
    if (!write) throw new MemoryError("unsupported", `the file has a line of an unknown kind: "${name}".`);
    await write(...args);
  }
}

/** Writes a dump beside the file, and puts it in its place. Returns the open file. */
async function rewrite(file: string, memory: MemoryStore, dump: Dump): Promise<number> {
  const lines = await toDumpLines(memory, dump);
  const output = openSync(`${file}.new`, "w");
  writeDurably(output, lines);
  renameSync(`${file}.new`, file);
  // The new name is durable once its folder is.
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
  return output;
}

/** The lines that fill an empty store with what this one holds, its identity included. */
async function toDumpLines(memory: MemoryStore, dump: Dump): Promise<string> {
  const copy = { from: await memory.identity(), part: "users", done: 0, of: 0 };
  const progress = await dump.copyProgress();
  const lines = [{ name: "dump.beginCopy", args: [progress ?? copy] as unknown[] }];
  for (const part of dump.parts) {
    let after: string | undefined;
    do {
      const { rows, cursor } = await dump.page(part, {
        limit: 1000,
        ...(after === undefined ? {} : { after }),
      });
      lines.push({ name: "dump.putRows", args: [part, rows] });
      after = cursor;
    } while (after !== undefined);
  }
  if (!progress) lines.push({ name: "dump.finishCopy", args: [] });
  return `${lines.map(toJson).join("\n")}\n`;
}

function writeDurably(output: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at);
  fsyncSync(output);
}

/** Vectors and bytes are written as text behind this mark. Other texts that begin with it are marked, too. */
const MARK = "\0";

/** Vectors are written as bytes, because decimal numbers may lose the sign of a zero. */
function toJson(value: unknown): string {
  // A clone has no method `toJSON`, which would change buffers before they are seen here.
  return JSON.stringify(structuredClone(value), (_key, part: unknown) => {
    if (part instanceof Float32Array) return `${MARK}vector:${toBase64(part)}`;
    if (part instanceof Uint8Array) return `${MARK}bytes:${toBase64(part)}`;
    return typeof part === "string" && part.startsWith(MARK) ? `${MARK}text:${part}` : part;
  });
}

function fromJson(line: string): unknown {
  return JSON.parse(line, (_key, part: unknown) => {
    if (typeof part !== "string" || !part.startsWith(MARK)) return part;
    const kind = part.slice(MARK.length, part.indexOf(":"));
    const rest = part.slice(part.indexOf(":") + 1);
    if (kind === "text") return rest;
    const bytes = Uint8Array.from(Buffer.from(rest, "base64"));
    return kind === "vector" ? new Float32Array(bytes.buffer) : bytes;
  });
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array | Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
