import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../src/adapters/memory/index.ts";
import { openSqliteStore } from "../src/adapters/sqlite/index.ts";
import type { MemoryStore } from "../src/ports/memory-store.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/backends/own-store.md"), "utf8");
const PORT = readFileSync(join(ROOT, "src/ports/memory-store.ts"), "utf8");
const CASES = readFileSync(join(ROOT, "src/testing/memory-store/memory-store-conformance.ts"), "utf8");
const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const NUMBER_WORDS = [...NUMBERS, "eleven", "twelve", "thirteen", "fourteen", "fifteen"];

const folder = mkdtempSync(join(tmpdir(), "keepsake-own-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The rows of the table under a heading: what the first cell names, and the names in code of the second. */
function rowsUnder(heading: string): [name: string, names: readonly string[]][] {
  const [section = ""] = PAGE.slice(PAGE.indexOf(`## ${heading}\n`) + 3).split("\n## ");
  return [...section.matchAll(/^\| `(\w+)[^|]*` \| ([^|]+) \|/gm)].map(([, name = "", cell = ""]) => [
    name,
    [...cell.matchAll(/`(\w+)`/g)].map(([, one = ""]) => one),
  ]);
}

/** The names of the properties of `MemoryStore` that match. */
const propertiesOf = (pattern: RegExp): string[] => {
  const [, body = ""] = /^export interface MemoryStore \{\n([\s\S]*?)^\}/m.exec(PORT) ?? [];
  return [...body.matchAll(pattern)].map(([, name = ""]) => name);
};
const CORE = propertiesOf(/^ {2}(\w+)\(/gm);
const REQUIRED = propertiesOf(/^ {2}readonly (\w+): [A-Z]/gm);
const LACKABLE = propertiesOf(/^ {2}readonly (\w+)\?: /gm);

/** The methods of each capability that one of our stores has. */
async function methodsByCapability(): Promise<Map<string, string[]>> {
  const sqlite = await openSqliteStore({ path: join(folder, "store.db") });
  const methods = new Map<string, string[]>();
  for (const store of [createInMemoryStore(), sqlite]) {
    for (const [name, capability] of Object.entries(store satisfies MemoryStore)) {
      if (typeof capability !== "object" || methods.has(name)) continue;
      methods.set(
        name,
        Object.keys(capability).filter((one) => typeof capability[one] === "function"),
      );
    }
  }
  await sqlite.close();
  return methods;
}

describe("the page for authors of a memory store", () => {
  it("lists the core, and every capability under its heading", () => {
    expect(CORE.length + REQUIRED.length + LACKABLE.length).toBeGreaterThan(20);
    expect(rowsUnder("The core").map(([name]) => name)).toEqual(CORE);
    expect(
      rowsUnder("Required capabilities")
        .map(([name]) => name)
        .sort(),
    ).toEqual(REQUIRED.sort());
    expect(
      rowsUnder("Capabilities that a store may lack")
        .map(([name]) => name)
        .sort(),
    ).toEqual(LACKABLE.sort());
  });

  it("counts them as the port does", () => {
    const words = [CORE, REQUIRED, LACKABLE].map(({ length }) => NUMBER_WORDS[length] ?? "many");
    expect(PAGE.replaceAll("\n", " ").toLowerCase()).toContain(
      `a store has a name, ${words[0]} methods and ${words[1]} required capabilities. it may lack ${words[2]} more.`,
    );
  });

  it("gives every method of each capability", async () => {
    const methods = await methodsByCapability();
    const listed = [
      ...rowsUnder("Required capabilities"),
      ...rowsUnder("Capabilities that a store may lack"),
    ];
    const wrong = listed.filter(([name, names]) => {
      const stored = methods.get(name)?.sort().join();
      return stored !== undefined && stored !== [...names].sort().join();
    });
    expect(
      wrong.map(([name, names]) => `${name}: ${names.join()} is not ${methods.get(name)?.join()}`),
    ).toEqual([]);
  });

  it("names the capabilities whose cases can be left out", () => {
    const [, type = ""] = /^export type LackableCapability =([^;]+);/m.exec(CASES) ?? [];
    const lackable = [...type.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
    const [, named = ""] = /`lacks` accepts ([^.]+)\./.exec(PAGE) ?? [];
    expect([...named.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).sort()).toEqual(lackable.sort());
  });

  it("gives the length of the example, which is under 300 lines", () => {
    const lines =
      readFileSync(join(ROOT, "examples/json-lines-store/store.ts"), "utf8").split("\n").length - 1;
    expect(lines).toBeLessThan(300);
    expect(PAGE).toContain(`\`examples/json-lines-store/store.ts\` has ${lines} lines.`);
  });
});
