import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Keepsake } from "../../../src/engine/api/keepsake.ts";
import type { ScopedMemory } from "../../../src/engine/api/scoped-memory.ts";

/** The built library: as fast to load as for its users. The type is that of its source, which is there before it is built. */
const BUILT = new URL("../../../dist/index.js", import.meta.url).href;
const { createMemory, isMemoryError } = (await import(BUILT)) as typeof import("../../../src/index.ts");

/** What an operation came to in its own process. */
export interface OperationReport {
  /** What the operation gave: nothing where it failed. */
  readonly done?: unknown;
  readonly failure?: OperationFailure;
  /** The same once more, in the same process, where it failed: with the fault gone, or still there. */
  readonly again?: { readonly done?: unknown; readonly failure?: OperationFailure };
  /** Closing may fail as well. */
  readonly closing?: OperationFailure;
  /** For "close": whether what was stored before it was acknowledged. */
  readonly isStored?: boolean;
}

export interface OperationFailure {
  /** Of a `MemoryError`; "foreign" for any other. */
  readonly code: string;
  readonly message: string;
}

interface Opened {
  readonly keepsake: Keepsake;
  readonly ana: ScopedMemory;
  readonly folder: string;
  /** The newest revision before the operation. */
  readonly revision: number;
}

/** The texts that operations store, and the words that they erase and undo. */
export const WORDS = {
  kept: "Lisbonzq",
  erased: "Magnetzq",
  older: "Shramzq",
  told: "Portozq",
  undone: "Kayakzq",
} as const;

const TOLD = `I moved to ${WORDS.told} last year.`;

const OPERATIONS: { readonly [name: string]: (opened: Opened) => Promise<unknown> } = {
  remember: ({ ana }) => ana.remember({ id: "m-told", role: "user", content: TOLD }),
  batch: ({ ana }) =>
    ana.remember(
      [1, 2, 3, 4, 5].map((number) => ({
        id: `m-batch-${number}`,
        role: "user",
        content: `I own ${number} boats. ${TOLD}`,
      })),
    ),
  async update({ ana }) {
    const { items } = await ana.list();
    const [first] = items;
    return first && ana.update(first.id, { text: `The user likes ${WORDS.told}.` });
  },
  undo: ({ ana, revision }) => ana.undo(revision),
  forget: ({ ana }) => ana.forget(WORDS.erased),
  everything: ({ ana }) => ana.forget({ everything: true }),
  backup: ({ keepsake, folder }) => keepsake.backup(join(folder, "backup.copy")),
  async import({ ana }) {
    const source = [1, 2, 3].map((number) => ({
      id: `m-import-${number}`,
      role: "user" as const,
      content: `I own ${number} boats. ${TOLD}`,
    }));
    let last: unknown;
    for await (const progress of ana.import(source, { batch: 2 })) last = progress;
    return last;
  },
};

/** The operations that are done in an open database; "open" and "close" are the way there and back. */
export const INSIDE: readonly string[] = [...Object.keys(OPERATIONS), "close"];

function failureOf(error: unknown): OperationFailure {
  if (isMemoryError(error)) return { code: error.code, message: error.message };
  return { code: "foreign", message: error instanceof Error ? `${error.name}: ${error.message}` : "?" };
}

async function attempt(
  work: () => Promise<unknown>,
): Promise<{ done?: unknown; failure?: OperationFailure }> {
  try {
    return { done: (await work()) ?? null };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Tells strace where the operation begins and ends. */
function mark(folder: string, name: string): void {
  existsSync(join(folder, `mark-${name}`));
}

async function operate(name: string, folder: string): Promise<OperationReport> {
  const path = join(folder, "memory.db");
  if (name === "open") mark(folder, "begin");
  const opened = await attempt(() => createMemory({ path }));
  if (opened.failure) {
    const again = await attempt(async () => (await createMemory({ path })).close());
    return { failure: opened.failure, again };
  }
  const keepsake = opened.done as Keepsake;
  const ana = keepsake.scope({ user: "ana" });
  const revision = name === "undo" ? await ana.revision() : 0;
  const operation = OPERATIONS[name] ?? (async () => undefined);
  // What closing writes at last is what this has written.
  const told =
    name === "close"
      ? await attempt(() => ana.remember({ id: "m-told", role: "user", content: TOLD }))
      : undefined;
  if (name !== "open") mark(folder, "begin");
  const run = () => (told ? keepsake.close() : operation({ keepsake, ana, folder, revision }));
  const first = await attempt(run);
  mark(folder, "end");
  const again = first.failure ? { again: await attempt(run) } : {};
  const { failure: closing } = await attempt(() => keepsake.close());
  return {
    ...first,
    ...again,
    ...(closing ? { closing } : {}),
    ...(told ? { isStored: !told.failure } : {}),
  };
}

if (import.meta.main) {
  const [, , name = "", folder = ""] = process.argv;
  console.log(JSON.stringify(await operate(name, folder)));
}
