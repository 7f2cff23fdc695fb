import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeys } from "../../../http/keys/api-keys.ts";
import { keysFile } from "../../../http/keys/key-stores.ts";
import { withLock } from "./file-lock.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-lock-"));
  path = join(folder, "memory.db.keys.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process of its own that runs a program over these sources. */
function other(program: string): ChildProcess {
  const imports = `
    import { createKeyManagement } from ${JSON.stringify(join(import.meta.dirname, "../../../http/keys/key-management.ts"))};
    import { withLock } from ${JSON.stringify(join(import.meta.dirname, "file-lock.ts"))};
    import { keysFile } from ${JSON.stringify(join(import.meta.dirname, "../../../http/keys/key-stores.ts"))};
    const path = ${JSON.stringify(path)};
    const keys = createKeyManagement(keysFile(path), () => new Date());`;
  return spawn(process.execPath, ["--input-type=module", "--eval", `${imports}${program}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const ended = async (child: ChildProcess): Promise<unknown> => (await once(child, "exit"))[0];

describe("two programs that change the keys at once", () => {
  it("lose no change: every created key exists and every revoked key is gone", async () => {
    // A moment between two changes: who took the lock again at once, again and again, could keep the other out for all its patience.
    const program = (name: string) => `
      for (let number = 0; number < 60; number += 1) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * Math.random());
        const { entry } = keys.create({ label: "${name} " + number });
        if (number % 3 === 0) keys.revoke(entry.id);
      }`;
    expect(await Promise.all([other(program("one")), other(program("two"))].map(ended))).toEqual([0, 0]);
    const labels = (keysFile(path).read()?.keys ?? []).map(({ label }) => label).sort();
    const expected = ["one", "two"].flatMap((name) =>
      Array.from({ length: 60 }, (_, number) => ({ name, number }))
        .filter(({ number }) => number % 3 !== 0)
        .map(({ name: who, number }) => `${who} ${number}`),
    );
    expect(labels).toEqual(expected.sort());
    expect(readdirSync(folder)).toEqual(["memory.db.keys.json"]);
  }, 30_000);

  it("see each other's revocation within a second", async () => {
    const here = apiKeys({ store: keysFile(path), clock });
    const { key, entry } = here.create();
    expect(here.verify(key)).toBeDefined();
    const revoking = other(`keys.revoke("${entry.id}"); process.stdout.write("done\\n");`);
    await once(revoking.stdout ?? revoking, "data");
    const since = performance.now();
    while (here.verify(key) !== undefined && performance.now() - since < 3000) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(performance.now() - since).toBeLessThan(1000);
    await ended(revoking).catch(() => {});
  });
});

describe("the lock", () => {
  it("is removed if its program was killed", async () => {
    const killed = other(`withLock(path + ".lock", () => { process.stdout.write("held\\n"); for (;;); });`);
    await once(killed.stdout ?? killed, "data");
    killed.kill("SIGKILL");
    await ended(killed);
    expect(readFileSync(`${path}.lock`, "utf8")).toContain(String(killed.pid));
    const since = performance.now();
    expect(withLock(`${path}.lock`, () => "mine")).toBe("mine");
    expect(performance.now() - since).toBeLessThan(2000);
    expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
  });

  it("is removed once old if a power cut left it empty", () => {
    const lock = `${path}.lock`;
    writeFileSync(lock, "");
    expect(() => withLock(lock, () => "mine", 20)).toThrow(expect.objectContaining({ code: "unavailable" }));
    const longAgo = statSync(lock).mtimeMs / 1000 - 31;
    utimesSync(lock, longAgo, longAgo);
    expect(withLock(lock, () => "mine", 20)).toBe("mine");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("of a running program stays, and a timeout says what to do", () => {
    const lock = `${path}.lock`;
    const holder = JSON.stringify({ mark: "theirs", pid: process.ppid, host: hostname() });
    writeFileSync(lock, holder);
    expect(() => withLock(lock, () => "mine", 20)).toThrow(/another program holds .*delete that file/);
    expect(readFileSync(lock, "utf8")).toBe(holder);
  });

  it("is lost by a program suspended for so long that another took it", () => {
    const lock = `${path}.lock`;
    const seen = withLock(lock, (isHeld) => {
      const before = isHeld();
      rmSync(lock);
      return [before, isHeld(), withLock(lock, (theirs) => theirs())];
    });
    expect(seen).toEqual([true, false, true]);
  });

  it("is released when the work fails", () => {
    const lock = `${path}.lock`;
    expect(() =>
      withLock(lock, () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("a lock removes the names that earlier ones left, and none of a lock that may be held", () => {
  const mark = (end: string) => `${path}.lock.00000000-0000-4000-8000-00000000000${end}`;
  const [oldDraft, oldEnd, young] = [mark("1.new"), mark("2.end"), mark("3.new")];
  for (const name of [oldDraft, oldEnd, young, `${path}.lock.txt`]) writeFileSync(name, "{}");
  const before = new Date(Date.now() - 120_000);
  for (const name of [oldDraft, oldEnd, `${path}.lock.txt`]) utimesSync(name, before, before);
  expect(withLock(`${path}.lock`, () => "done")).toBe("done");
  expect(
    readdirSync(folder)
      .map((name) => join(folder, name))
      .sort(),
  ).toEqual([young, `${path}.lock.txt`].sort());
});
