import { randomUUID } from "node:crypto";
import { ChromaClient } from "chromadb";
import { describe, expectTypeOf, it } from "vitest";
import { followerConformance } from "../../testing/follower-conformance.ts";
import { type ChromaClientLike, chromaFollower } from "./index.ts";

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
    const follower = chromaFollower({ client: clientOf(address ?? ""), prefix });
    prefixes.set(follower, prefix);
    return follower;
  };
  followerConformance({
    name: "chroma",
    open: async () => open(`test-${randomUUID()}`),
    reopen: async (follower) => open(prefixes.get(follower) ?? ""),
    second: async (follower) => open(prefixes.get(follower) ?? ""),
    async remove(follower) {
      const last = open(prefixes.get(follower) ?? "");
      await last.clear();
    },
  });
});
