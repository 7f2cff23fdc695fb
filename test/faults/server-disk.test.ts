import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { isInstalled } from "../left-out.ts";

let folder = "";
let path = "";
let faulty: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-server-disk-"));
  path = join(folder, "memory.db");
});
afterEach(() => {
  faulty?.kill();
  rmSync(folder, { recursive: true });
});

async function tell({ url, key }: Running, id: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: "ana", messages: [{ id, role: "user", content: `I use Tool${id}.` }] }),
  });
  return response.status;
}

async function get({ url, key }: Running, route: string): Promise<number> {
  return (await fetch(`${url}${route}`, { headers: { authorization: `Bearer ${key}` } })).status;
}

/** Without a key, a moment after it was asked last. */
async function readyForAnybody({
  url,
}: Running): Promise<{ readonly status: number; readonly body: string }> {
  await new Promise((resolve) => setTimeout(resolve, 600));
  const response = await fetch(`${url}/api/v1/ready`);
  return { status: response.status, body: await response.text() };
}

/** From now on such calls fail where they touch the database's files. */
async function failing({ child }: Running, calls: string, error: string): Promise<ChildProcess> {
  const files = ["", "-wal"].flatMap((end) => ["-P", `${path}${end}`]);
  const words = [
    "-f",
    "-p",
    `${child.pid}`,
    ...files,
    "-e",
    `trace=${calls}`,
    "-e",
    `inject=${calls}:error=${error}`,
  ];
  const strace = spawn("strace", [...words, "-o", "/dev/null"], { stdio: ["ignore", "ignore", "pipe"] });
  // It says which threads it has.
  await once(strace.stderr, "data");
  return strace;
}

async function idsStored(): Promise<string[]> {
  const record = await openSqliteStore({ path });
  const { messages } = await record.since({ project: "default", user: "ana" }, 0, { units: false });
  const faults = await record.check();
  await record.close();
  expect(faults).toEqual([]);
  return messages.map(({ id }) => id);
}

describe.skipIf(!isInstalled("strace"))("a server", () => {
  it("whose disk fails to make a write durable refuses it and ends with 70, and loses nothing acknowledged", {
    timeout: 120_000,
  }, async () => {
    const server = await started(path);
    expect(await tell(server, "m1")).toBe(201);
    const ended = once(server.child, "exit");
    faulty = await failing(server, "fsync,fdatasync", "EIO");
    expect(await tell(server, "m2")).toBe(503);
    expect(await ended).toEqual([70, null]);
    faulty = undefined;
    const next = await started(path);
    expect(await tell(next, "m3")).toBe(201);
    expect(await next.end()).toBe(0);
    const stored = await idsStored();
    expect(stored).toContain("m1");
    expect(stored).toContain("m3");
  });

  it("on a full disk refuses writes, says that it is not ready, reads, and serves again when there is room", {
    timeout: 120_000,
  }, async () => {
    const server = await started(path);
    expect(await tell(server, "m1")).toBe(201);
    expect(await get(server, "/api/v1/ready")).toBe(200);
    faulty = await failing(server, "pwrite64", "ENOSPC");
    expect(await tell(server, "m2")).toBe(503);
    expect(await get(server, "/api/v1/ready")).toBe(503);
    const anybody = await readyForAnybody(server);
    expect(anybody.status).toBe(503);
    expect(anybody.body).not.toContain("memory.db");
    expect(await get(server, "/api/v1/memories/ana")).toBe(200);
    faulty.kill();
    await once(faulty, "exit");
    faulty = undefined;
    const since = performance.now();
    while ((await get(server, "/api/v1/ready")) !== 200 && performance.now() - since < 5000) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(performance.now() - since).toBeLessThan(5000);
    expect(await tell(server, "m2")).toBe(201);
    expect(await server.end()).toBe(0);
    expect(await idsStored()).toEqual(["m1", "m2"]);
  });
});
