import { randomUUID } from "node:crypto";
import { ChromaClient } from "chromadb";
import { describe, expect, expectTypeOf, it } from "vitest";
import { startHttpProxy } from "../../testing/http-proxy.ts";
import { INDEX_ANN, makeEntry, readIds, SPACE } from "../../testing/vector-index/index-fixtures.ts";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { type ChromaClientLike, createChromaVectorIndex } from "./index.ts";

const { KEEPSAKE_TEST_CHROMA: address } = process.env;
const why = 'needs KEEPSAKE_TEST_CHROMA: eval "$(test/services/up chroma)"';

function clientOf(url: string): ChromaClient {
  const { hostname, port, protocol } = new URL(url);
  return new ChromaClient({ host: hostname, port: Number(port), ssl: protocol === "https:" });
}

describe("the client of chromadb", () => {
  it("fits the adapter", () => {
    expectTypeOf<ChromaClient>().toExtend<ChromaClientLike>();
  });
});

describe.skipIf(!address)(`Chroma (${address ? "a real server" : why})`, () => {
  const prefixes = new Map<object, string>();
  const open = (prefix: string) => {
    const follower = createChromaVectorIndex({ client: clientOf(address ?? ""), prefix });
    prefixes.set(follower, prefix);
    return follower;
  };
  vectorIndexConformance({
    name: "chroma",
    open: async () => open(`test-${randomUUID()}`),
    reopen: async (follower) => open(prefixes.get(follower) ?? ""),
    second: async (follower) => open(prefixes.get(follower) ?? ""),
    async remove(follower) {
      const last = open(prefixes.get(follower) ?? "");
      await last.clear();
    },
  });

  it("retries a rate-limited request, then gives up", { timeout: 30_000 }, async () => {
    await using proxy = await startHttpProxy(address ?? "");
    const follower = createChromaVectorIndex({
      client: clientOf(proxy.url),
      prefix: `test-${randomUUID()}`,
      timeoutMs: 500,
    });
    await follower.prepare(SPACE);
    await follower.put(INDEX_ANN, [makeEntry("east", [1])]);
    proxy.troubles.push({ status: 429, at: "/upsert" }, { status: 429, at: "/upsert" });
    await follower.put(INDEX_ANN, [makeEntry("north", [0, 1])]);
    expect(proxy.received.filter((path) => path.endsWith("/upsert"))).toHaveLength(4);
    proxy.always = { status: 429 };
    const begun = performance.now();
    await expect(follower.put(INDEX_ANN, [makeEntry("west", [-1])])).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(performance.now() - begun).toBeLessThan(6000);
    proxy.always = { status: 401 };
    await expect(follower.held(INDEX_ANN, ["east"])).rejects.toMatchObject({ code: "forbidden" });
    proxy.always = undefined;
    expect(await readIds(follower, INDEX_ANN)).toEqual(["east", "north"]);
    await follower.clear();
  });

  it("refuses a collection of another program", { timeout: 30_000 }, async () => {
    const [client, prefix] = [clientOf(address ?? ""), `test-${randomUUID()}`];
    const follower = createChromaVectorIndex({ client, prefix });
    await follower.prepare(SPACE);
    const name = `${prefix}-of-somebody-else`;
    await client.createCollection({ name, embeddingFunction: null });
    await follower.clear();
    expect((await client.getCollection({ name })).name).toBe(name);
    await client.deleteCollection({ name });
  });

  it("refuses a prefix that is not a valid name", () => {
    expect(() => createChromaVectorIndex({ client: clientOf(address ?? ""), prefix: "no spaces" })).toThrow(
      "prefix",
    );
  });
});
