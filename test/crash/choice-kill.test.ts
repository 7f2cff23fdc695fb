import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { extractTerms } from "../../src/domain/search/search-terms.ts";
import { spaceOf } from "../../src/engine/search-index/search-units.ts";
import { makeChangeSet, makeMemory } from "../../src/testing/memory-store/change-sets.ts";
import { random } from "./kill.ts";
import {
  BY_VECTOR,
  BY_WORDS,
  INTO_TRAP,
  LANTERN,
  NEW,
  OLD,
  TARGET,
  TRAP,
  vectorIn,
} from "./reembed-child.ts";
import { callApi, type SpaceServer, startSpaceServer } from "./space-server.ts";

const KILLS = 20;
/** As many batches are embedded between two kills, at most. */
const BATCHES = 1;
const BATCH = 100;
/** More than all of them together, on any machine: each kill finds work. */
const COUNT = (KILLS * BATCHES + 2) * BATCH;
const OLD_SPACE = spaceOf({ fingerprint: "openai/old/256" });
const NEW_SPACE = spaceOf({ fingerprint: "openai/new/256" });

let folder: string;
let oldServer: SpaceServer;
let newServer: SpaceServer;
const running: Running[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-choice-"));
  [oldServer, newServer] = [await startSpaceServer(OLD), await startSpaceServer(NEW)];
});
afterAll(async () => {
  for (const server of running) await server.end("SIGKILL");
  for (const server of [oldServer, newServer]) server.close();
  rmSync(folder, { recursive: true });
});

const textsOf = (user: string): string[] => [
  LANTERN,
  ...Array.from({ length: COUNT - 3 }, (_, i) => `The user put object ${i * 7} of ${user} into drawer ${i}.`),
  TRAP,
  TARGET,
];

/** Fills a file with memories of two users, whose vectors are in the old space. */
async function fill(path: string): Promise<void> {
  const store = await openSqliteStore({ path });
  for (const user of ["ana", "ben"]) {
    const texts = textsOf(user);
    for (let from = 0; from < texts.length; from += 500) {
      const some = texts.slice(from, from + 500).map((text, i) => ({ text, id: `f${from + i}` }));
      await store.commit(
        { project: "default", user },
        makeChangeSet({
          base: from / 500,
          memories: some.map(({ id, text }) => makeMemory(id, 1, { text })),
          units: some.map(({ id, text }) => ({
            id,
            type: "memory",
            owner: id,
            start: 0,
            end: text.length,
            terms: extractTerms(text).join(" "),
            space: OLD_SPACE,
            vector: vectorIn(OLD, text),
          })),
        }),
      );
    }
  }
  await store.close();
}

async function serve(path: string): Promise<Running> {
  const remote = (model: string, { url }: SpaceServer) => ({
    kind: "openai",
    model,
    base_url: url,
    dimensions: 256,
  });
  const server = await started(path, {
    PATH: process.env.PATH ?? "",
    KEEPSAKE_EMBEDDER: "openai",
    KEEPSAKE_EXTRACTOR: "rules",
    EMBEDDING_MODEL: "old",
    OPENAI_BASE_URL: oldServer.url,
    KEEPSAKE_EMBEDDING_DIMENSIONS: "256",
    RETRIEVAL_TIMEOUT_MS: "5000",
    KEEPSAKE_EMBEDDERS: JSON.stringify({ new: remote("new", newServer) }),
  });
  running.push(server);
  return server;
}

async function search(
  server: Running,
  user: string,
  query: string,
): Promise<{ text: string; score: number }[]> {
  const { status, json } = await callApi(server, "POST", `/api/v1/memories/${user}/search`, { query });
  expect(status).toBe(200);
  return json.items.map(({ text, score }: { text: string; score: number }) => ({ text, score }));
}

async function waitUntilEmbedded(server: Running): Promise<void> {
  const readLeft = async () => (await callApi(server, "GET", "/api/v1/embedders/ana")).json.progress.left;
  await expect.poll(readLeft, { timeout: 60_000, interval: 50 }).toBe(0);
}

/** What a search for the trap, for the target and by words gives, and every vector of the user as it is stored. */
async function readResults(server: Running, path: string) {
  const queries = [BY_VECTOR, INTO_TRAP, BY_WORDS, "Which object is in drawer 77?"];
  const found = [];
  for (const user of ["ana", "ben"])
    for (const query of queries) found.push(await search(server, user, query));
  await server.end();
  const store = await openSqliteStore({ path });
  const faults = await store.check();
  const units = [];
  for (const user of ["ana", "ben"]) {
    const all = (await store.since({ project: "default", user }, 0)).units;
    units.push(all.map(({ id, space, vector }) => `${id} ${space} ${[...vector].join()}`).sort());
  }
  await store.close();
  return { found, units, faults };
}

it("a choice over HTTP whose embedding is killed 20 times ends complete, and equal to an undisturbed one", {
  timeout: 400_000,
}, async () => {
  const [killed, calm] = [join(folder, "killed.db"), join(folder, "calm.db")];
  await fill(killed);
  copyFileSync(killed, calm);
  const draw = random(20261129);
  newServer.awayMs = 300;
  let kills = 0;
  const lefts: number[] = [];
  for (let run = 0; run < KILLS; run += 1) {
    newServer.batchesLeft = BATCHES;
    const server = await serve(killed);
    if (run === 0) {
      const chosen = await callApi(server, "PUT", "/api/v1/embedders/ana", { embedder: "new" });
      expect(chosen.json).toMatchObject({ embedder: "new", from: "user", progress: { total: COUNT } });
    }
    await pause(draw() * 400);
    const { progress } = (await callApi(server, "GET", "/api/v1/embedders/ana")).json;
    lefts.push(progress.left);
    expect((await search(server, "ana", BY_WORDS))[0]?.text).toBe(LANTERN);
    expect(await search(server, "ana", INTO_TRAP)).toEqual([]);
    if (progress.left > 0) kills += 1;
    expect(await server.end("SIGKILL")).toBe("SIGKILL");
  }
  expect(kills).toBe(KILLS);
  expect(lefts).toEqual(lefts.toSorted((one, other) => other - one));
  newServer.awayMs = 0;
  newServer.batchesLeft = Number.POSITIVE_INFINITY;
  const last = await serve(killed);
  await waitUntilEmbedded(last);
  const disturbed = await readResults(last, killed);
  const given = newServer.texts.filter((text) => text.startsWith("The user"));
  // No more than what was under way at a kill is embedded twice.
  expect(given.length).toBeLessThanOrEqual(COUNT + KILLS * BATCH);

  const server = await serve(calm);
  await callApi(server, "PUT", "/api/v1/embedders/ana", { embedder: "new" });
  await waitUntilEmbedded(server);
  const undisturbed = await readResults(server, calm);
  expect(disturbed).toEqual(undisturbed);
  expect(disturbed.faults).toEqual([]);
  const [ofAna = [], ofBen = []] = disturbed.units;
  expect([ofAna.length, ofBen.length]).toEqual([COUNT, COUNT]);
  expect(ofAna.every((unit) => unit.includes(` ${NEW_SPACE} `))).toBe(true);
  expect(ofBen.every((unit) => unit.includes(` ${OLD_SPACE} `))).toBe(true);
  expect(newServer.texts.filter((text) => text.includes("of ben"))).toEqual([]);
  const [byVector, trapped] = disturbed.found;
  expect(byVector?.[0]?.text).toBe(TARGET);
  expect(trapped).toEqual([]);
});
