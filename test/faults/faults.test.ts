import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FAULTS, pageRows } from "./table.ts";
import { tryFault, WAY_NAMES } from "./trying.ts";

// All of the table is tried by `node test/faults/main.ts`, a step of `.ci/run`; here those that take no time.
const QUICK = ["the search index is lost", "the model's server answers 500", "the stream is cut"];

it("there is a way to bring about every fault of the table", () => {
  expect([...WAY_NAMES].sort()).toEqual(FAULTS.map(({ name }) => name).sort());
});

it.each(QUICK)("if %s, every interface does what the table says", { timeout: 60_000 }, async (name) => {
  const fault = FAULTS.find((one) => one.name === name);
  expect(fault && (await tryFault(fault)).faults).toEqual([]);
});

it("the page shows the table as it is", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/reliability.md"), "utf8");
  expect(page).toContain(pageRows());
});
