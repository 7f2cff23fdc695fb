import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readmeOf } from "./claims.ts";
import { filesOf } from "./page.ts";
import { FOLDER, readResults } from "./results.ts";

describe("the page of speed", () => {
  for (const [name, text] of filesOf(readResults())) {
    it(`has in ${name} what the results say`, () => {
      expect(readFileSync(join(FOLDER, name), "utf8")).toBe(text);
    });
  }
});

it("the README says of speed what the results say", () => {
  expect(readFileSync(join(FOLDER, "../../README.md"), "utf8")).toBe(readmeOf(readResults()));
});
