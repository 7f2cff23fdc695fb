import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ScopedMemory } from "keepsake";
import { createMemory } from "keepsake";
import { writeConversations } from "./make-conversations.ts";

/**
 * Imports a large made export of ChatGPT, again, and undoes it. Prints seconds, the largest memory in use, and whether the
 * digests before and after are equal: `node bench/imports/main.ts [--messages N]`.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { messages: { type: "string", default: "100000" } } });
  const folder = mkdtempSync(join(tmpdir(), "keepsake-imports-"));
  try {
    const file = join(folder, "conversations.json");
    const bytes = await writeConversations(file, Number(values.messages));
    const memory = await createMemory({ path: join(folder, "memory.db") });
    try {
      const ana = memory.scope({ user: "ana" });
      await ana.remember("I live in Tartu.");
      await print(ana, file, bytes);
    } finally {
      await memory.close();
    }
    console.log("database, MB", Math.round(statSync(join(folder, "memory.db")).size / 1e6));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function print(ana: ScopedMemory, file: string, bytes: number): Promise<void> {
  const before = await digestOf(ana);
  console.log("file, MB", Math.round(bytes / 1e6));
  const first = await time("import", () => runImport(ana, file));
  await time("again", () => runImport(ana, file));
  await time("undo", async () => {
    await ana.undo(first ?? 0);
    return undefined;
  });
  console.log("digests equal", (await digestOf(ana)) === before);
}

async function runImport(ana: ScopedMemory, file: string): Promise<number | undefined> {
  let revision: number | undefined;
  for await (const progress of ana.import(file, { format: "auto" })) {
    if (!progress.done) continue;
    const { read, stored, known, memories, passedOver } = progress;
    console.log(JSON.stringify({ read, stored, known, memories, passedOver }));
    revision = progress.revision;
  }
  return revision;
}

async function time<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 50);
  const result = await work();
  clearInterval(watch);
  console.log(
    `${name}, s`,
    ((performance.now() - begun) / 1000).toFixed(1),
    "largest, MB",
    Math.round(most / 1e6),
  );
  return result;
}

/** A digest of all messages and current memories that reads show. */
async function digestOf(ana: ScopedMemory): Promise<string> {
  const hash = createHash("sha256");
  for await (const line of ana.export()) if (line.type === "message") hash.update(JSON.stringify(line));
  for await (const { id, text } of ana.list({ limit: 1000 })) hash.update(id + text);
  return hash.digest("hex");
}

await main();
