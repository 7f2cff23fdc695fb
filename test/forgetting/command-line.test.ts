import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Nothing of this shell's settings. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
const ENV = { PATH, NODE_COMPILE_CACHE };

/** What a user runs: made as new as src/ before the tests began. */
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
let place = "";

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "keepsake-keeping-"));
});
afterEach(() => rmSync(place, { recursive: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into as a script would.
  readonly json: any;
}

function keepsake(...words: readonly string[]): Ran {
  const ran = spawnSync(process.execPath, [MAIN, ...words], {
    cwd: place,
    encoding: "utf8",
    env: ENV,
  });
  const json = words.includes("--json") ? JSON.parse(ran.stdout) : undefined;
  return { status: ran.status, out: ran.stdout, err: ran.stderr, json };
}
const bytes = (name = "keepsake.db"): string => readFileSync(join(place, name), "latin1").toLowerCase();

describe("forget on the command line", () => {
  it("takes a time, a topic and metadata, shows the plan as a table, and one thing at a time", {
    timeout: 120_000,
  }, () => {
    keepsake("remember", "I play the oboe.", "--at", "2024-05-01T10:00:00Z");
    keepsake("remember", "I am allergic to penicillin. I live in Porto.");
    const plan = keepsake("forget", "--to", "2024-06-01", "--dry-run");
    expect(plan.out).toMatch(
      /^Would be erased: 1 memory, words in 1 message\.\n {2}memory {14}The user plays the oboe\.\n {2}words {3}2024-05-01 {2}“I play the oboe\.”\n$/,
    );
    expect(
      keepsake("forget", "--from", "2024-04-01", "--to", "2024-06-01", "--json").json.erased,
    ).toMatchObject({
      memories: 1,
    });
    expect(keepsake("forget", "--topic", "health", "--yes").status).toBe(0);
    expect(bytes()).not.toMatch(/oboe|penicillin/);
    expect(keepsake("list", "--json").json.total).toBe(1);
    expect(keepsake("forget", "--where", '{"app":"x"}').status).toBe(3);
    for (const wrong of [
      ["--where", "{app"],
      ["--where", "{}"],
      ["--from", "yesterday"],
      ["--topic", "nonsense"],
      ["Porto", "--topic", "health"],
      ["--topic", "health", "--from", "2024-01-01"],
    ]) {
      expect([wrong, keepsake("forget", ...wrong).status]).toEqual([wrong, 2]);
    }
  });
});

describe("backup, restore and audit on the command line", () => {
  it("take a copy, forget, restore, and do not bring it back", { timeout: 120_000 }, () => {
    keepsake("remember", "My cat is called Quixote. I live in Porto.");
    const made = keepsake("backup", "monday.db", "--keep-until", "2999-01-01", "--json");
    expect(made.json).toMatchObject({ name: "monday.db", counts: { users: 1, messages: 1 } });
    expect(keepsake("backup", "monday.db")).toMatchObject({
      status: 1,
      err: expect.stringMatching(/add --yes/),
    });
    const again = keepsake("backup", "monday.db", "--yes", "--keep-until", "2999-01-01");
    expect(again.out).toMatch(/^1 user, 1 message in monday\.db \(\d+ kB\); verified\.\n$/);
    expect(again.err).toMatch(/The secret is not in it: also keep keepsake\.db\.secret/);

    expect(keepsake("forget", "Quixote").out).toMatch(
      /Older backups still contain it: monday\.db \(until 2999-01-01\)\./,
    );
    const audit = keepsake("audit", "--json").json;
    expect(audit).toMatchObject({ valid: true, broken: [], backups: [{ name: "monday.db" }] });
    expect(keepsake("audit").out).toMatch(
      new RegExp(`1 receipt; all valid\\.\nPublic key {2}${audit.public_key}\n`),
    );

    expect(keepsake("restore", "monday.db")).toMatchObject({
      status: 1,
      err: expect.stringMatching(/--yes/),
    });
    const restored = keepsake("restore", "monday.db", "--yes");
    expect(restored.out).toMatch(
      /^Restored keepsake\.db from monday\.db\.\nApplied 1 erasure made since the backup\.\nThe previous database is now keepsake\.db\.before-\d+\.\n$/,
    );
    expect(bytes()).not.toMatch(/quixote/);
    expect(keepsake("list").out).toMatch(/Porto/);
    expect(keepsake("audit", "--json").json).toMatchObject({ valid: true });
    expect(keepsake("doctor").err).toMatch(/The newest backup is from \d{4}-/);
  });

  it("audit ends with 1 where a receipt was taken out, and where an earlier one is missing", {
    timeout: 120_000,
  }, () => {
    keepsake("remember", "My cat is called Quixote. I live in Porto.");
    keepsake("forget", "Quixote");
    const { head } = keepsake("audit", "--json").json;
    expect(keepsake("audit", "--head", head).status).toBe(0);
    expect(keepsake("audit", "--head", "0".repeat(64))).toMatchObject({
      status: 1,
      out: expect.stringMatching(/receipts are missing that an earlier audit saw/),
    });
    expect(keepsake("audit", "--head", "mine").status).toBe(2);
    const file = new DatabaseSync(join(place, "keepsake.db"));
    file.exec("DELETE FROM erasures");
    file.close();
    const audit = keepsake("audit", "--json");
    expect(audit).toMatchObject({ status: 1, json: { valid: false } });
    expect(keepsake("doctor").status).toBe(1);
  });

  it("restore refuses a database that a server uses", { timeout: 120_000 }, async () => {
    keepsake("remember", "I live in Porto.");
    keepsake("backup", "monday.db");
    const server = spawn(process.execPath, [MAIN, "serve", "--port", "0"], {
      cwd: place,
      env: ENV,
    });
    await new Promise((resolve) => server.stdout.once("data", resolve));
    const refused = keepsake("restore", "monday.db", "--yes");
    expect(refused).toMatchObject({
      status: 1,
      err: expect.stringMatching(/a program is using .*keepsake\.db/),
    });
    expect(keepsake("remember", "I play the oboe.").status).toBe(0);
    expect(keepsake("backup", "tuesday.db").status).toBe(0);
    const ended = new Promise((resolve) => server.once("close", resolve));
    server.kill("SIGTERM");
    await ended;
    expect(keepsake("restore", "tuesday.db", "--yes").status).toBe(0);
    expect(keepsake("list").out).toMatch(/oboe/);
  });

  it("say what is wrong with a file, and touch nothing", { timeout: 120_000 }, () => {
    keepsake("remember", "I live in Porto.");
    const before = keepsake("list", "--json").json;
    writeFileSync(join(place, "text.db"), "hello");
    expect(keepsake("restore", "text.db", "--yes", "--json")).toMatchObject({
      status: 1,
      json: { error: { code: "corrupt" } },
    });
    expect(keepsake("restore", "nowhere.db", "--yes").status).toBe(1);
    expect(keepsake("backup", "no/where.db").status).toBe(1);
    expect(keepsake("backup", "keepsake.db", "--yes").status).toBe(2);
    expect(keepsake("backup", "x.db", "--keep-until", "soon").status).toBe(2);
    expect(keepsake("backup", "x.db", "--db", "none.db").status).toBe(1);
    expect(existsSync(join(place, "x.db"))).toBe(false);
    expect(keepsake("list", "--json").json).toEqual(before);
    expect(keepsake("audit", "--json").json.backups).toEqual([]);
  });
});
