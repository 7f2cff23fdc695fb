import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../src/index.ts";
import { restoreMemory } from "../../src/restore.ts";
import { rotateMasterKey } from "../../src/rotate-master-key.ts";

let folder = "";
let path = "";
const USERS = ["ana", "ben"];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-rotation-"));
  path = join(folder, "memory.db");
  const memory = await createMemory({ path, encryption: true });
  for (const user of USERS) await memory.scope({ user }).remember(`My boat is called ${user}'s pride.`);
  await memory.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

type Master = true | { readonly masterKeyFile: string };

/** A file of a master key. */
function makeMaster(name: string, digits: string): { readonly masterKeyFile: string } {
  const masterKeyFile = join(folder, name);
  writeFileSync(masterKeyFile, `${digits.repeat(32)}\n`);
  return { masterKeyFile };
}

async function answers(encryption: Master): Promise<string[]> {
  await using memory = await createMemory({ path, encryption });
  return await Promise.all(
    USERS.map(async (user) => (await memory.scope({ user }).answer("What is my boat called?")).text),
  );
}

const KNOWN = USERS.map((user) => expect.stringContaining(`${user}'s pride`));

describe("a change of the master key", () => {
  it("lets the new master key alone open the database, from the secret to a file, to another and back", async () => {
    const [first, second] = [makeMaster("first.key", "ab"), makeMaster("second.key", "cd")];
    const steps: readonly [Master, Master][] = [
      [true, first],
      [first, second],
      [second, true],
    ];
    for (const [from, to] of steps) {
      const done = await rotateMasterKey({ path, from, to });
      expect(done).toEqual({ isRotated: true, keys: 2, unreadable: 0, otherFolders: 0 });
      await expect(createMemory({ path, encryption: from })).rejects.toMatchObject({ code: "forbidden" });
      expect(await answers(to)).toEqual(KNOWN);
      expect(await rotateMasterKey({ path, from, to })).toMatchObject({ isRotated: false, keys: 2 });
    }
    expect(
      readdirSync(`${path}.keys`, { recursive: true }).filter((name) => /new|replaced/.test(`${name}`)),
    ).toEqual([]);
  });

  it("leaves an erased user's key destroyed, and a backup from before can be restored", async () => {
    const memory = await createMemory({ path, encryption: true });
    await memory.backup(join(folder, "monday.backup"));
    await memory.scope({ user: "ana" }).forget({ everything: true });
    await memory.close();
    const to = makeMaster("new.key", "ab");
    expect(await rotateMasterKey({ path, from: true, to })).toMatchObject({ keys: 2, unreadable: 0 });
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    await restoreMemory({ path, from: join(folder, "monday.backup"), encryption: to });
    const [ofAna, ofBen] = await answers(to);
    expect(ofAna).not.toContain("pride");
    expect(ofBen).toContain("ben's pride");
  });

  it("tells of folders whose users are not in the database, and leaves their keys", async () => {
    const to = makeMaster("new.key", "ab");
    cpSync(join(`${path}.keys`, firstFolder()), join(`${path}.keys`, "f".repeat(40)), { recursive: true });
    expect(await rotateMasterKey({ path, from: true, to })).toMatchObject({ keys: 2, otherFolders: 1 });
    expect(await answers(to)).toEqual(KNOWN);
  });

  it("changes nothing if it is refused: in use, not encrypted, the same master key, another one", async () => {
    const [to, other] = [makeMaster("new.key", "ab"), makeMaster("other.key", "cd")];
    const memory = await createMemory({ path, encryption: true });
    await expect(rotateMasterKey({ path, from: true, to })).rejects.toMatchObject({ code: "unavailable" });
    await memory.close();
    await expect(rotateMasterKey({ path, from: true, to: true })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(rotateMasterKey({ path, from: other, to })).rejects.toMatchObject({ code: "forbidden" });
    expect(await answers(true)).toEqual(KNOWN);
    const plain = join(folder, "plain.db");
    await (await createMemory({ path: plain })).close();
    await expect(rotateMasterKey({ path: plain, from: true, to })).rejects.toMatchObject({
      code: "conflict",
    });
  });

  it("is made by the command line, which says what to set next", async () => {
    const { masterKeyFile } = makeMaster("new.key", "ab");
    const run = (...words: string[]) => {
      const main = join(import.meta.dirname, "../../src/cli/main.ts");
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [main, "encryption", "rotate", "--db", path, ...words],
        { encoding: "utf8", env: { ...process.env, KEEPSAKE_ENCRYPTION: "on" } },
      );
      return { status, said: `${stdout}${stderr}` };
    };
    expect(run()).toMatchObject({
      status: 2,
      said: expect.stringContaining("with --to"),
    });
    expect(run("--to", `file:${masterKeyFile}`)).toEqual({
      status: 0,
      said: expect.stringMatching(
        /2 keys of .* have the new master key\.[\s\S]*Set KEEPSAKE_MASTER_KEY_FILE/,
      ),
    });
    expect(await answers({ masterKeyFile })).toEqual(KNOWN);
  });
});

const firstFolder = (): string =>
  readdirSync(`${path}.keys`, { withFileTypes: true }).find((entry) => entry.isDirectory())?.name ?? "";
