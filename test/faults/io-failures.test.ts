import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../crash/kill.ts";
import { isInstalled } from "../left-out.ts";
import { UPDATE_COPY } from "./disk/aftermath.ts";
import {
  drawn,
  filesOfOperation,
  makeTemplates,
  pointsOfOperation,
  type Templates,
  tryPoint,
} from "./io-failures.ts";

// `node test/faults/io-failures.ts --all` tries every point of every operation; here each of those that once went wrong, and a few.
const POINTS: readonly (readonly [operation: string, calls: RegExp, points: number])[] = [
  ["remember", /fsync/, 4],
  ["update", /fsync/, 2],
  ["undo", /fsync/, 2],
  ["forget", /pwrite64|write|pread64/, 6],
  ["backup", /openat/, 3],
  ["backup", /unlink/, 4],
  ["restore", /pread64|pwrite64/, 4],
  ["open a new file", /link|fsync/, 4],
  ["migrate", /pwrite64|rename/, 4],
  ["migrate the last format", /rename|fsync/, 4],
  ["keys", /write|rename/, 2],
  ["move", /openat|link/, 3],
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

  it("fails calls on the copy before an update, and on the drafts of new files", {
    timeout: 60_000,
  }, async () => {
    expect(await filesOfOperation(templates, "migrate")).toContain(`${UPDATE_COPY}.part`);
    const drafts = [
      ["open a new file", /^memory\.db\.\d+\.[0-9a-f]{8}\.new$/],
      ["move", /^target\.db\.\d+\.[0-9a-f]{8}\.new$/],
    ] as const;
    for (const [operation, name] of drafts)
      expect(await filesOfOperation(templates, operation)).toContainEqual(expect.stringMatching(name));
  });
});
