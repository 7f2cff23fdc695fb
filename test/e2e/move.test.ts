import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-move-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function keepsake(words: string, env: { readonly [name: string]: string } = {}): Promise<Ran> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...words.split(" ")], { cwd: folder, env: { PATH, ...env } });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, out, err })));
}

/** With keys, an erasure, and what is left. */
async function filled(path: string): Promise<void> {
  writeFileSync(join(folder, "said.jsonl"), '{"role":"user","content":"I use a kettle and a teapot."}\n');
  await keepsake(`import said.jsonl --db ${path}`);
  await keepsake(`forget teapot --yes --db ${path}`);
  await keepsake(`keys create --db ${path}`);
}

describe("keepsake move", () => {
  it("makes another file the database, with its secret, its keys and its ledger of erasures", async () => {
    await filled("one.db");
    const moved = await keepsake("move --db one.db --to sqlite:///two.db --json");
    expect([moved.status, JSON.parse(moved.out)]).toMatchObject([
      0,
      { from: "one.db", to: "two.db", resumed_at: 0, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    for (const beside of [".secret", ".keys.json", ".erasures"]) {
      const [one, two] = ["one.db", "two.db"].map((name) =>
        readFileSync(join(folder, name + beside), "utf8"),
      );
      expect(two).toBe(one);
      expect(statSync(join(folder, `two.db${beside}`)).mode & 0o077).toBe(0);
    }
    const found = await keepsake("recall kettle --db two.db");
    expect(found.out).toContain("kettle");
    expect((await keepsake("audit --db two.db")).status).toBe(0);
    expect((await keepsake("doctor --db two.db")).status).toBe(0);
  }, 60_000);

  it("refuses what is no place for it, and leaves no file behind", async () => {
    await filled("held.db");
    const refused: readonly (readonly [string, number, RegExp])[] = [
      ["move --db held.db", 2, /--to/],
      ["move --db held.db --to held.db", 2, /the same database/],
      ["move --db held.db --to ./held.db", 2, /the same database/],
      ["move --db held.db --to :memory:", 2, /cannot be moved/],
      ["move --db held.db --to oracle://here/there", 1, /oracle is not supported/],
      ["move --db held.db --to mysql://here/there", 2, /KEEPSAKE_SECRET/],
      ["move --db nothing.db --to new.db", 1, /there is no database/],
      ["move --db held.db --to postgresql://nobody@127.0.0.1:1/none", 2, /KEEPSAKE_SECRET/],
    ];
    for (const [words, status, said] of refused) {
      const ran = await keepsake(words);
      expect([words, ran.status]).toEqual([words, status]);
      expect(ran.err).toMatch(said);
    }
    expect(existsSync(join(folder, "new.db"))).toBe(false);
    await keepsake("remember Hello. --db other.db");
    const taken = await keepsake("move --db held.db --to other.db");
    expect([taken.status, taken.err]).toEqual([1, expect.stringMatching(/other\.db.*another secret/)]);
    rmSync(join(folder, "other.db.secret"));
    const full = await keepsake("move --db held.db --to other.db");
    expect([full.status, full.err]).toEqual([1, expect.stringMatching(/is not empty/)]);
  }, 60_000);

  it("refuses a secret that is not the one in the file", async () => {
    await filled("secret.db");
    const env = { KEEPSAKE_SECRET: "another secret than that of the file" };
    const ran = await keepsake("move --db secret.db --to elsewhere.db", env);
    expect([ran.status, ran.err]).toEqual([1, expect.stringMatching(/KEEPSAKE_SECRET is another secret/)]);
    const same = { KEEPSAKE_SECRET: readFileSync(join(folder, "secret.db.secret"), "utf8") };
    expect((await keepsake("move --db secret.db --to elsewhere.db", same)).status).toBe(0);
  }, 60_000);
});
