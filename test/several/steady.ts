import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { type KindResults, send } from "../../bench/load/generator.ts";
import { kindsOf, type PeopleLoad } from "../../bench/load/people.ts";
import { filled } from "../../bench/speed/filling.ts";
import { person } from "../../bench/speed/made-up.ts";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { openSqliteStore, textSecret } from "../../src/adapters/sqlite/index.ts";
import { copyStore } from "../../src/engine/transfer/copy-store.ts";

/**
 * A server that was just started compiles what it runs: so long is not measured, as in `bench -- --server`. Each has half of the
 * load, and takes twice as long to see as much of it.
 */
const WARM_UP_SECONDS = 20;

/** Has the people of the bench, with all that they said, in a database; gives the secret that it is kept with. */
export async function moveIn(url: string, { users, perUser }: PeopleLoad): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-several-"));
  const path = join(folder, "memory.db");
  const pool = new Pool({ connectionString: url, max: 4, pipeline: true });
  try {
    await filled(path, { users, perUser });
    const secret = readFileSync(`${path}.secret`, "utf8").trim();
    const file = await openSqliteStore({ path });
    const record = await openPostgresStore({ pool, secret: textSecret(secret) });
    await copyStore(file, record);
    await file.close();
    await record.close();
    // As the database does by itself, within minutes.
    await pool.query("VACUUM");
    return secret;
  } finally {
    await pool.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** These people search and write at random moments, whether they are answered or not: each server has its share of them. */
export async function steady(
  servers: readonly { readonly url: string; readonly key: string }[],
  asking: PeopleLoad,
  seconds: number,
): Promise<{ readonly [kind: string]: { p50: number; p95: number; sent: number; errors: object } }> {
  const share = {
    ...asking,
    searches: asking.searches / servers.length,
    writes: asking.writes / servers.length,
  };
  const during = async (mark: string, time: number): Promise<KindResults[]> => {
    const sent = servers.map((server, i) => send(server, kindsOf(share, `${mark}-${i}`), time, 17 + i));
    return (await Promise.all(sent)).flat();
  };
  const warming = Math.min(WARM_UP_SECONDS, seconds / 4);
  await during("warm-up", warming);
  const all = await during("measured", seconds - warming);
  const names = [...new Set(all.map(({ name }) => name))];
  return Object.fromEntries(names.map((name) => [name, figuresOf(all, name)]));
}

/** Has a server meet everybody once: whom it knows nothing of yet, it takes in with all that they ever said. */
export async function met(
  { url, key }: { readonly url: string; readonly key: string },
  { users }: PeopleLoad,
  mark: string,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    await response.arrayBuffer();
  };
  for (let i = 1; i <= users; i += 1) {
    const { name } = person(i);
    await post(`/api/v1/memories/${name}/search`, { query: "Who are you?" });
    const messages = [{ id: mark, role: "user", content: "Hello." }];
    await post("/api/v1/messages", { user_id: name, session_id: mark, messages });
  }
}

function figuresOf(all: readonly KindResults[], kind: string) {
  const ours = all.filter(({ name }) => name === kind);
  const times = ours.flatMap(({ latencies }) => latencies).toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(times[Math.floor(times.length * share)] ?? 0);
  const errors: Record<string, number> = {};
  for (const [what, count] of ours.flatMap((one) => [...one.errors]))
    errors[what] = (errors[what] ?? 0) + count;
  return { p50: at(0.5), p95: at(0.95), sent: times.length, errors };
}
