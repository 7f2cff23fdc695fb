import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { makeChangeSet, makeMessage } from "../../src/testing/memory-store/change-sets.ts";
import { startedWorker } from "../several/processes.ts";
import { keepsake, keepsakeWith, place } from "./shell.ts";

const SOON = { timeout: 20_000, interval: 100 };

describe("worker", () => {
  it("does what others left, tells how it is, and ends in good order", { timeout: 60_000 }, async () => {
    const path = join(place, "keepsake.db");
    const record = await openSqliteStore({ path });
    const scope = { project: "default", user: "me" };
    const waiting = makeMessage("m1", { content: "I use Shram.", digest: "pending" });
    await record.commit(scope, makeChangeSet({ messages: [waiting] }));
    await record.close();
    const worker = await startedWorker(path, {});
    const known = async (): Promise<string> => (await keepsake("list")).out;
    await expect.poll(known, SOON).toContain("Shram");
    // It gives way to whatever answers people, with each of its threads.
    const { pid = 0 } = worker.child;
    const threads = process.platform === "linux" ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
    for (const thread of threads) expect(getPriority(thread)).toBeGreaterThan(getPriority());
    expect(await worker.health()).toEqual({ status: "ok", record: "ok", http: 200 });
    const metrics = await (await fetch(worker.address.replace("/health", "/metrics"))).text();
    expect(metrics).toMatch(/memory_job_set_aside\{job="understanding"\} 0/);
    expect((await fetch(worker.address.replace("/health", "/api/v1/jobs"))).status).toBe(404);
    const { exit, tookMs } = await worker.end("SIGTERM");
    expect(exit).toBe(0);
    expect(tookMs).toBeLessThan(10_000);
  });

  it("shows what was set aside, and lets it run again", { timeout: 60_000 }, async () => {
    const path = join(place, "keepsake.db");
    const record = await openSqliteStore({ path });
    const scope = { project: "default", user: "ann" };
    await record.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
    const failed = { attempts: 5, problem: "internal", at: new Date().toISOString() };
    await record.jobs.saveProgress("consolidation", [{ scope, visit: { revision: 1, failed } }]);
    await record.close();
    const shown = await keepsake("worker", "--quarantined", "--json");
    expect(shown.json.items).toMatchObject([
      { job: "consolidation", project: "default", user: "ann", attempts: 5, problem: "internal" },
    ]);
    const { id } = shown.json.items[0];
    expect((await keepsake("worker", "--quarantined")).out).toContain(id);
    expect((await keepsake("jobs", "--json")).json.jobs).toContainEqual(
      expect.objectContaining({ name: "consolidation", set_aside: 1 }),
    );
    expect((await keepsake("worker", "--again", "nobody")).status).toBe(3);
    expect(await keepsake("worker", "--again", id)).toMatchObject({
      status: 0,
      out: "The job will run again.\n",
    });
    expect((await keepsake("worker", "--quarantined")).out).toBe("No failed jobs.\n");
  });

  it("says what is wrong with how it was started", { timeout: 60_000 }, async () => {
    expect(await keepsake("worker", "--db", ":memory:")).toMatchObject({ status: 2 });
    expect(await keepsake("worker", "--at", "2026-01-01T00:00:00Z")).toMatchObject({ status: 2 });
    expect((await keepsake("worker", "--quarantined", "--db", "none.db")).err).toContain("no database");
    const wrong = await keepsakeWith({ env: { KEEPSAKE_JOBS: "elsewhere" } }, "worker");
    expect(wrong).toMatchObject({ status: 2 });
    expect(wrong.err).toContain("here or workers");
  });
});
