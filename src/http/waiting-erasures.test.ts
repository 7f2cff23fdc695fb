import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../adapters/memory/index.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import type { ScopedMemory } from "../engine/api/scoped-memory.ts";
import { createMemory } from "../memory.ts";
import { httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";

/** An erasure whose client has gone is not begun; one that has begun is finished. */

let keepsake: Keepsake;
let ana: ScopedMemory;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;
/** Runs before each commit of the store. */
let onCommit: () => Promise<void> = async () => undefined;

beforeEach(async () => {
  onCommit = async () => undefined;
  const store = createInMemoryStore();
  keepsake = await createMemory({
    record: {
      ...store,
      async commit(scope, change) {
        await onCommit();
        return store.commit(scope, change);
      },
    },
  });
  ana = keepsake.scope({ user: "ana" });
  keys = apiKeys({ store: passingKeys(), clock: () => new Date() });
  app = httpApp({ keepsake, keys });
  await ana.remember("I live in Porto.", { session: "s1" });
});
afterEach(() => keepsake.close());

/** Holds the next commit until `release` is called; `isHeld` resolves once it waits. */
function holdCommit(): { readonly isHeld: Promise<void>; release(): void } {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  onCommit = async () => {
    held.resolve();
    await released.promise;
  };
  return { isHeld: held.promise, release: () => released.resolve() };
}

function send(method: string, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${keys.first}`, "content-type": "application/json" };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  return Promise.resolve(
    app.request(new Request(`http://localhost${path}`, { method, headers, signal, ...content })),
  );
}

/** Lets everything run that does not wait for the held commit. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

const ROUTES: readonly (readonly [string, string, unknown])[] = [
  ["POST", "/api/v1/erasures", { user_id: "ana", about: "Porto" }],
  ["POST", "/api/v1/erasures", { user_id: "ana", everything: true }],
  ["DELETE", "/api/v1/memories/ana/all", undefined],
  ["DELETE", "/api/v1/sessions/ana/s1", undefined],
  ["POST", "/forget", { userId: "ana", message: "Porto" }],
];

describe("an erasure that waits for its turn while its client disconnects", () => {
  it.each(ROUTES)("is not begun: %s %s %j", async (method, path, body) => {
    const { isHeld, release } = holdCommit();
    const write = ana.remember("I like tea.");
    await isHeld;
    const client = new AbortController();
    const answer = send(method, path, body, client.signal).catch(() => undefined);
    await settle();
    client.abort();
    release();
    await Promise.all([write, answer]);
    await settle();
    expect(await keepsake.scope({ user: "ana" }).erasures()).toEqual([]);
    expect((await ana.recall("Where do I live?")).items.map(({ text }) => text).join()).toContain("Porto");
  });
});

describe("an erasure that has begun when its client disconnects", () => {
  it.each(ROUTES)("is finished: %s %s %j", async (method, path, body) => {
    const { isHeld, release } = holdCommit();
    const client = new AbortController();
    const answer = send(method, path, body, client.signal).catch(() => undefined);
    await isHeld;
    client.abort();
    release();
    await answer;
    await expect.poll(() => ana.erasures()).toMatchObject([{ complete: true }]);
    expect((await ana.recall("Where do I live?")).items).toEqual([]);
  });
});
