import { writeSync } from "node:fs";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { isMemoryError } from "../../src/errors.ts";
import {
  makeChangeSet,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../src/testing/memory-store/change-sets.ts";

/**
 * Another process on the same file. `share PATH NAME COUNT`: commits so many messages, each thought out anew where the
 * other process was faster. `fill PATH`: commits until the file cannot grow, then tells what happened as JSON.
 */

export const SHARED = { project: "default", user: "shared" };

const [, , mode = "", path = "", name = "", count = "0"] = process.argv;
if (import.meta.main && mode === "share") await share(path, name, Number(count));
if (import.meta.main && mode === "fill") writeSync(1, JSON.stringify(await fill(path)));

async function share(path: string, name: string, count: number): Promise<void> {
  const record = await openSqliteStore({ path, busyTimeoutMs: 30_000 });
  for (let number = 0; number < count; ) {
    const base = await record.revision(SHARED);
    const id = `${name}-${number}`;
    const units = [makeUnit(`${id}#0`, "passage", id), makeUnit(id, "memory", id)];
    try {
      await record.commit(
        SHARED,
        makeChangeSet({ base, messages: [makeMessage(id)], memories: [makeMemory(id)], units }),
      );
      number += 1;
    } catch (error) {
      if (!isMemoryError(error) || error.code !== "conflict") throw error;
    }
  }
  await record.close();
}

export interface Filled {
  readonly code: unknown;
  readonly message: string;
  readonly acknowledged: number;
  readonly revision: number;
  readonly messages: number;
}

async function fill(path: string): Promise<Filled> {
  const record = await openSqliteStore({ path });
  let acknowledged = 0;
  let refusal: unknown;
  while (refusal === undefined) {
    const id = `m${acknowledged}`;
    const large = makeMessage(id, { content: "Words and words. ".repeat(1500) });
    try {
      const units = [makeUnit(`${id}#0`, "passage", id)];
      acknowledged = await record.commit(
        SHARED,
        makeChangeSet({ base: acknowledged, messages: [large], units }),
      );
    } catch (error) {
      refusal = error;
    }
  }
  const revision = await record.revision(SHARED);
  const { messages } = await record.since(SHARED, 0);
  const { code, message: words } = refusal as { code: unknown; message: string };
  // Not closed in good order: the next process finds what this one left.
  return { code, message: words, acknowledged, revision, messages: messages.length };
}
