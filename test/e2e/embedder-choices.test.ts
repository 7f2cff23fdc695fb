import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";
import { BY_VECTOR, INTO_TRAP, NEW, OLD, TARGET, TRAP } from "../crash/reembed-child.ts";
import { callApi, type SpaceServer, startSpaceServer } from "../crash/space-server.ts";
import { keepsakeWith } from "./shell.ts";

const OF_BEN = "The user collects brass compasses.";
const BEN_QUERY = "Sextant?";

let folder: string;
let server: Running;
let small: SpaceServer;
let large: SpaceServer;
let settings: { readonly [name: string]: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-choices-"));
  [small, large] = [await startSpaceServer(OLD, [BEN_QUERY, OF_BEN]), await startSpaceServer(NEW)];
  const remote = (model: string, { url }: SpaceServer) => ({
    kind: "openai",
    model,
    base_url: url,
    dimensions: 256,
  });
  settings = {
    KEEPSAKE_EXTRACTOR: "rules",
    RETRIEVAL_TIMEOUT_MS: "5000",
    KEEPSAKE_DB: join(folder, "memory.db"),
    KEEPSAKE_EMBEDDERS: JSON.stringify({ small: remote("small", small), large: remote("large", large) }),
  };
  server = await started(join(folder, "memory.db"), settings);
});
afterAll(async () => {
  await server.end("SIGKILL");
  for (const one of [small, large]) one.close();
  rmSync(folder, { recursive: true });
});

const call = (method: string, path: string, body?: object) => callApi(server, method, `/api/v1${path}`, body);
const search = async (user: string, query: string): Promise<string[]> =>
  (await call("POST", `/memories/${user}/search`, { query })).json.items.map(
    ({ text }: { text: string }) => text,
  );
const add = async (user: string, content: string) =>
  expect((await call("POST", "/memories", { user_id: user, content })).status).toBe(201);
const waitFor = (user: string) =>
  expect
    .poll(async () => (await call("GET", `/embedders/${user}`)).json.progress.left, { timeout: 30_000 })
    .toBe(0);

describe("embedders that users and projects choose on a server", { timeout: 120_000 }, () => {
  it("keep the texts, the queries and the vectors of two users apart", async () => {
    expect((await call("PUT", "/embedders/ben", { embedder: "small" })).json).toMatchObject({
      embedder: "small",
    });
    expect((await call("PUT", "/embedders/ana", { embedder: "large" })).json).toMatchObject({
      embedder: "large",
    });
    for (const text of [TRAP, TARGET]) await add("ana", text);
    for (const text of [OF_BEN, TRAP]) await add("ben", text);
    await Promise.all(["ana", "ben"].map(waitFor));
    // No word in common: only a vector of the user's own space finds it.
    expect(await search("ana", BY_VECTOR)).toEqual([TARGET]);
    expect(await search("ben", BEN_QUERY)).toEqual([OF_BEN]);
    // The large embedder puts it where the small one has the trap, which both users have.
    expect(await search("ana", INTO_TRAP)).toEqual([]);
    expect(await search("ben", BY_VECTOR)).toEqual([]);
    expect(small.texts).not.toContain(TARGET);
    expect(large.texts).not.toContain(OF_BEN);
    expect(large.texts).not.toContain(BEN_QUERY);
  });

  it("change on the command line while the server runs, which embeds the stored texts again", async () => {
    const keepsake = (...words: string[]) => keepsakeWith({ env: settings }, ...words);
    const listed = (await keepsake("embedder", "list", "--json")).json;
    expect(listed).toMatchObject({ available: ["default", "small", "large"], total: 2 });
    const unknown = await keepsake("embedder", "choose", "huge", "--user", "ben");
    expect([unknown.status, unknown.err]).toEqual([
      2,
      expect.stringContaining("There is no embedder of that name. Available: default, small, large."),
    ]);
    const chosen = (await keepsake("embedder", "choose", "large", "--json")).json;
    expect(chosen).toMatchObject({
      project: "default",
      embedder: "large",
      from: "project",
      configured: true,
    });
    const cleared = (await keepsake("embedder", "clear", "--user", "ben", "--json")).json;
    expect(cleared).toMatchObject({ user: "ben", embedder: "large", from: "project", left: 2, total: 2 });
    // The next call of the server uses it: the old vectors are not compared any more.
    expect(await search("ben", BEN_QUERY)).toEqual([]);
    expect(await search("ben", "brass compasses")).toEqual([OF_BEN]);
    expect((await keepsake("reindex", "--json")).json).toMatchObject({ embedded: 2, left: 0 });
    expect((await call("GET", "/embedders/ben")).json).toMatchObject({
      embedder: "large",
      from: "project",
      progress: { left: 0, total: 2 },
    });
    const shown = await keepsake("embedder", "show", "--user", "ben");
    expect(shown.out.trim()).toBe("ben: large (chosen by the project)");
    expect((await keepsake("embedder", "clear")).out.trim()).toBe("the project default: default");
  });

  it("are set for a project by a key of the scope admin only, and for a user by a key for that user", async () => {
    const issue = async (fields: object): Promise<{ url: string; key: string }> => {
      const { json } = await call("POST", "/keys", fields);
      return { url: server.url, key: json.key };
    };
    const writer = await issue({ scopes: ["read", "write"] });
    const ofAna = await issue({ scopes: ["read", "write"], user_id: "ana" });
    const body = { embedder: "small" };
    const tried = async (who: { url: string; key: string }, path: string) => {
      const { status, json } = await callApi(who, "PUT", `/api/v1/embedders${path}`, body);
      return [status, json.code];
    };
    expect(await tried(writer, "")).toEqual([403, "forbidden"]);
    expect(await tried(ofAna, "/ben")).toEqual([404, "not_found"]);
    expect(await tried(writer, "/cem")).toEqual([200, undefined]);
    expect(await tried(ofAna, "/ana")).toEqual([200, undefined]);
    expect((await call("GET", "/embedders")).json.users).toEqual([
      { user_id: "ana", embedder: "small" },
      { user_id: "cem", embedder: "small" },
    ]);
  });
});
