import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";

const run = promisify(execFile);
const BLOCK = join(import.meta.dirname, "no-network.mjs");
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-offline-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The command line in a process that cannot reach anything, with no setting of anybody's. */
async function offline(...words: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return run(process.execPath, ["--import", BLOCK, MAIN, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, NO_COLOR: "1" },
  });
}

it("what is installed remembers, recalls and forgets with no network, and never tries (mem0#2901, OpenOnyx#76)", {
  timeout: 60_000,
}, async () => {
  const said = await offline(
    "remember",
    "I use Shram and Magnet as productivity tools.",
    "--db",
    "memory.db",
  );
  const asked = await offline("answer", "What productivity tools do I use?", "--db", "memory.db");
  const found = await offline("recall", "productivity", "--db", "memory.db");
  const gone = await offline("forget", "Magnet", "--yes", "--db", "memory.db");
  expect(asked.stdout).toContain("You use Shram and Magnet.");
  expect(found.stdout).toContain("Shram");
  expect([said, asked, found, gone].map(({ stderr }) => stderr).join("")).not.toContain("OUTBOUND");
});

it("the wall would have been noticed", async () => {
  const script = "fetch('http://127.0.0.1:1').catch(() => {})";
  const { stderr } = await run(process.execPath, ["--import", BLOCK, "-e", script]).catch(
    (error: unknown) => ({
      stderr: (error as { stderr: string }).stderr,
    }),
  );
  expect(stderr).toContain("OUTBOUND fetch");
});
