import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { ownServer } from "../services/own-server.ts";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "a-key-for-this-test-only-1";

interface Ready {
  readonly degraded: readonly string[];
  readonly dependencies: readonly { readonly kind: string; readonly state: string; readonly since: string }[];
}

it.skipIf(!process.env.KEEPSAKE_TEST_REDIS)(
  "readiness names a Redis that was killed as down, goes on with status 200, and names it as up once it is back",
  { timeout: 120_000 },
  async () => {
    const redis = await ownServer("redis");
    const folder = mkdtempSync(join(tmpdir(), "keepsake-ready-"));
    const server = spawn(
      process.execPath,
      [MAIN, "serve", "--port", "0", "--json", "--db", join(folder, "memory.db")],
      {
        env: {
          PATH: process.env.PATH,
          REDIS_URL: redis.address,
          KEEPSAKE_SESSIONS: "redis",
          KEEPSAKE_API_KEY: KEY,
        },
      },
    );
    try {
      const url = await new Promise<string>((resolve) => {
        server.stdout.once("data", (line: Buffer) => resolve(JSON.parse(String(line)).url));
      });
      const ready = async () => {
        const response = await fetch(`${url}/api/v1/ready`, { headers: { authorization: `Bearer ${KEY}` } });
        return { status: response.status, ...((await response.json()) as Ready) };
      };
      const until = async (state: string) => {
        for (let tried = 0; tried < 60; tried += 1) {
          const said = await ready();
          const found = said.dependencies.find(({ kind }) => kind === "sessions");
          if (found?.state === state) return { said, found };
          await pause(500);
        }
        throw new Error(`the sessions never were ${state}`);
      };
      expect((await until("up")).said).toMatchObject({ status: "ready", degraded: [] });
      await redis.kill();
      const { said, found } = await until("down");
      // With an address of Redis, the cache is there, too.
      expect(said.degraded).toEqual(["sessions", "cache"]);
      expect(Date.parse(found.since)).toBeGreaterThan(Date.now() - 60_000);
      expect(JSON.stringify(said)).not.toContain(redis.address);
      await redis.start();
      expect((await until("up")).said.degraded).toEqual([]);
    } finally {
      server.kill("SIGTERM");
      await redis.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
