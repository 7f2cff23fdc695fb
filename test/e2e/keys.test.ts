import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** What a user runs: made as new as src/ before the tests began. */
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const { PATH = "" } = process.env;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-keys-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function keys(...words: readonly string[]) {
  const ran = spawnSync(process.execPath, [MAIN, "keys", ...words, "--db", "memory.db"], {
    cwd: folder,
    env: { PATH },
    encoding: "utf8",
  });
  return { status: ran.status, out: ran.stdout, err: ran.stderr };
}
const made = (...words: readonly string[]) => JSON.parse(keys(...words, "--json").out);

describe("keepsake keys", () => {
  it("makes, shows, rotates and revokes, before there is a database", () => {
    expect(keys("list")).toMatchObject({ status: 0, out: "", err: "There are no keys.\n" });
    const shown = keys("create", "--scope", "read", "--label", "a dashboard", "--expires", "30d");
    expect(shown.out).toMatch(/^The key, shown this once: {2}ks_[0-9a-f]{12}_[\w-]{43}\n/);
    const first = made("create", "--project", "shop", "--only-user", "ana");
    expect(first).toMatchObject({ project: "shop", user_id: "ana", scopes: ["read", "write", "erase"] });
    const listed = keys("list").out;
    expect(listed).toMatch(/^id +project +may +only user +made +expires +last used +label\n/);
    expect(listed).toMatch(/default +read .* a dashboard\n/);
    expect(listed).not.toContain(first.key.slice(16));
    expect(JSON.parse(keys("list", "--project", "shop", "--json").out).items).toHaveLength(1);

    const again = made("rotate", first.id, "--grace", "2h");
    expect(again.key).not.toBe(first.key);
    expect(again).toMatchObject({ id: first.id, old_secret_until: expect.any(String) });
    expect(keys("revoke", first.id)).toMatchObject({ status: 0 });
    expect(keys("revoke", first.id)).toMatchObject({ status: 3 });
    expect(readFileSync(join(folder, "memory.db.keys.json"), "utf8")).not.toContain(again.key.slice(16));
    expect(readdirSync(folder)).toEqual(["memory.db.keys.json"]);
  });

  it.each([
    [["create", "--scope", "all"], /Allowed choices are read, write, erase, admin/],
    [["create", "--scope", "admin", "--only-user", "ana"], /key for one user/],
    [["create", "--expires", "yesterday"], /no time|duration|ISO 8601/],
    [["create", "--expires", "2020-01-01"], /is in the past/],
    [["rotate", "0123456789ab", "--grace", "soon"], /duration/],
    [["rotate", "0123456789ab", "--grace", "90d"], /thirty days/],
  ])("says what is wrong with %j, and changes nothing", (words, problem) => {
    const before = readFileSync(join(folder, "memory.db.keys.json"), "utf8");
    const { status, err } = keys(...words);
    expect([status, err]).toEqual([2, expect.stringMatching(problem)]);
    expect(readFileSync(join(folder, "memory.db.keys.json"), "utf8")).toBe(before);
  });

  it("beside a server that runs: a new key opens it at once, and a revoked one nothing within a second", async () => {
    const server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--db", "memory.db", "--json"], {
      cwd: folder,
      env: { PATH },
    });
    try {
      const line = await new Promise<string>((resolve) =>
        server.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString())),
      );
      const { url, key: firstKey } = JSON.parse(line) as { url: string; key?: string };
      // There were keys already, so that none was made.
      expect(firstKey).toBeUndefined();
      const { key, id } = made("create");
      const status = async () =>
        (await fetch(`${url}/api/v1/ready`, { headers: { authorization: `Bearer ${key}` } })).status;
      expect(await status()).toBe(200);
      expect(keys("revoke", id).status).toBe(0);
      const since = performance.now();
      while ((await status()) !== 401) expect(performance.now() - since).toBeLessThan(1000);
    } finally {
      const ended = new Promise((resolve) => server.once("close", resolve));
      server.kill("SIGTERM");
      await ended;
    }
  }, 30_000);
});
