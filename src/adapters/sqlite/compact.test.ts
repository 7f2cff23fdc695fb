import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import { openSqliteStore } from "./index.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-compact-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a database file that is compacted", () => {
  it("gives the space of erased messages back, keeps the rest, and contains no erased word", async () => {
    await using memory = await createMemory({ path });
    const ann = memory.scope({ user: "ann" });
    await ann.remember("I use Shram.");
    const long = Array.from({ length: 200 }, (_, i) => ({
      role: "user" as const,
      content: `Zanzibar ${i} ${"was warm and full of spice. ".repeat(40)}`,
      session: "trip",
    }));
    await ann.remember(long, { extract: "never" });
    await ann.forget({ session: "trip" });
    const size = await memory.vacuum();
    expect(size.after).toBeLessThan(size.before);
    expect(statSync(path).size).toBeLessThanOrEqual(size.after);
    expect(await memory.check()).toEqual([]);
    expect((await ann.list()).items.map(({ text }) => text)).toEqual(["The user uses Shram."]);
    expect(readFileSync(path).includes("Zanzibar")).toBe(false);
  });

  it("stays readable and writable for another process that has it open", async () => {
    await using server = await createMemory({ path });
    await server.scope({ user: "ann" }).remember("I use Shram.");
    await using other = await createMemory({ path });
    const [, receipt] = await Promise.all([
      other.vacuum(),
      server.scope({ user: "ann" }).remember("I live in Porto."),
    ]);
    expect(receipt.memories).toHaveLength(1);
    expect((await server.scope({ user: "ann" }).list()).total).toBe(2);
  });

  it("is left as it is while another process holds it, and says so", async () => {
    await using memory = await createMemory({ record: () => openSqliteStore({ path, busyTimeoutMs: 50 }) });
    const holder = new DatabaseSync(path);
    holder.exec("BEGIN IMMEDIATE");
    await expect(memory.vacuum()).rejects.toMatchObject({ code: "unavailable" });
    holder.exec("ROLLBACK");
    holder.close();
    expect((await memory.vacuum()).after).toBeGreaterThan(0);
  });

  it("is refused for a store that keeps nothing on disk", async () => {
    const { createInMemoryStore } = await import("../memory/index.ts");
    await using memory = await createMemory({ record: createInMemoryStore() });
    await expect(memory.vacuum()).rejects.toMatchObject({ code: "unsupported" });
  });
});
