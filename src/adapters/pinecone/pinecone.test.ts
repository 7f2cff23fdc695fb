import { Pinecone } from "@pinecone-database/pinecone";
import { afterAll, beforeAll } from "vitest";
import type { Follower } from "../../ports/follower.ts";
import { followerConformance } from "../../testing/follower-conformance.ts";
import { type PineconeServer, pineconeServer } from "../../testing/pinecone-server.ts";
import { type PineconeClient, type PineconeFollowerOptions, pineconeFollower } from "./index.ts";

const KEY = "pcsk-test-never-shown";

let server: PineconeServer;
let late: PineconeServer;
beforeAll(async () => {
  server = await pineconeServer({ apiKey: KEY });
  late = await pineconeServer({ lagMs: 40 });
});
afterAll(() => Promise.all([server.close(), late.close()]));

const clientOf = (at: PineconeServer): PineconeClient =>
  new Pinecone({ apiKey: KEY, controllerHostUrl: at.url, maxRetries: 0 });

let count = 0;
const names = new WeakMap<Follower, string>();
const opened = (
  at: PineconeServer,
  name: string,
  options: Partial<PineconeFollowerOptions> = {},
): Follower => {
  const follower = pineconeFollower({ client: clientOf(at), name, deadlineMs: 1500, ...options });
  names.set(follower, name);
  return follower;
};
const freshName = (): string => {
  count += 1;
  return `suite-${count}`;
};
const again = (at: PineconeServer) => async (follower: Follower) => opened(at, names.get(follower) ?? "");

followerConformance({
  name: "pinecone",
  open: async () => opened(server, freshName()),
  reopen: (follower) => again(server)(follower),
  second: (follower) => again(server)(follower),
  outage: { begin: () => server.down(), end: () => server.up() },
});
followerConformance({
  name: "pinecone, with reads that lag behind",
  open: async () => opened(late, freshName()),
  reopen: (follower) => again(late)(follower),
  second: (follower) => again(late)(follower),
});
