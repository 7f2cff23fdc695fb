import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../crash/kill.ts";
import { isInstalled } from "../left-out.ts";
import { drawn, makeTemplates, pointsOfOperation, type Templates, tryPoint } from "./io-failures.ts";

// `node test/faults/io-failures.ts --all` tries every point of every operation; here each of those that once went wrong, and a few.
const POINTS: readonly (readonly [operation: string, calls: RegExp, points: number])[] = [
  ["remember", /fsync/, 4],
  ["forget", /pwrite64|write|pread64/, 6],
  ["backup", /openat/, 3],
  ["backup", /unlink/, 4],
  ["restore", /pread64|pwrite64/, 4],
];

describe.skipIf(!isInstalled("strace"))("a failing disk", () => {
  let templates: Templates;
  beforeAll(async () => {
    templates = await makeTemplates();
  });
  afterAll(() => rmSync(templates.folder, { recursive: true }));

  it.each(POINTS)(
    "under %s, at points of %s, is told, and loses nothing that was acknowledged",
    {
      timeout: 180_000,
    },
    async (operation, calls, count) => {
      const points = (await pointsOfOperation(templates, operation)).filter(({ call }) => calls.test(call));
      expect(points.length).toBeGreaterThanOrEqual(count);
      for (const fault of drawn(points, count, random(1))) {
        expect(await tryPoint(templates, operation, fault)).toEqual({ operation, fault, problems: [] });
      }
    },
  );
});
