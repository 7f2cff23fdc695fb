import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createMemory } from "../../src/index.ts";

const CHILD = join(import.meta.dirname, "write-child.ts");
const run = promisify(execFile);
const NAMES = ["a", "b", "c", "d", "e"];
const EACH = 200;

it("five programs write two hundred messages each to one file: none is locked out, lost or doubled (cognee#2717, mem0#6515)", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-programs-"));
  try {
    const path = join(folder, "memory.db");
    await Promise.all(NAMES.map((name) => run(process.execPath, [CHILD, path, name, String(EACH)])));
    await using memory = await createMemory({ path });
    const ids: string[] = [];
    for await (const line of memory.scope({ user: "ann" }).export()) {
      if (line.type === "message" && "id" in line.message) ids.push(String(line.message.id));
    }
    const wanted = NAMES.flatMap((name) => Array.from({ length: EACH }, (_, i) => `${name}-${i}`));
    expect(ids.toSorted()).toEqual(wanted.toSorted());
    const found = await memory.scope({ user: "ann" }).recall("lantern e199");
    expect(found.items[0]?.text).toContain("e199");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
