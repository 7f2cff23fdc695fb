import { randomUUID } from "node:crypto";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { afterAll, beforeAll, describe, expectTypeOf, it } from "vitest";
import type { Follower } from "../../ports/follower.ts";
import { followerConformance } from "../../testing/follower-conformance.ts";
import { type HttpProxy, httpProxy } from "../../testing/http-proxy.ts";
import { type S3VectorsClient, type S3VectorsFollowerOptions, s3VectorsFollower } from "./index.ts";

// biome-ignore lint/style/noProcessEnv: only tests read it.
const { KEEPSAKE_TEST_S3_VECTORS: address } = process.env;
const why = 'needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)"';

const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const clientOf = (endpoint: string): S3Vectors =>
  new S3Vectors({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });

describe("the client of @aws-sdk/client-s3vectors", () => {
  it("fits the adapter", () => {
    expectTypeOf<S3Vectors>().toExtend<S3VectorsClient>();
  });
});

describe.skipIf(!address)(`S3 Vectors (${address ? "a server of its protocol" : why})`, () => {
  const bucket = `keepsake-${randomUUID()}`;
  const names = new WeakMap<Follower, string>();
  let proxy: HttpProxy;
  let client: S3Vectors;
  beforeAll(async () => {
    proxy = await httpProxy(address ?? "");
    client = clientOf(proxy.url);
    // moto loads most of itself with its first request, which takes long where the disk is cold.
    await clientOf(address ?? "").listVectorBuckets();
  }, 120_000);
  afterAll(async () => {
    await clientOf(address ?? "").deleteVectorBucket({ vectorBucketName: bucket });
    client.destroy();
    await proxy.close();
  });

  const opened = (name: string, options: Partial<S3VectorsFollowerOptions> = {}): Follower => {
    const follower = s3VectorsFollower({ client, bucket, name, deadlineMs: 1500, ...options });
    names.set(follower, name);
    return follower;
  };
  const nameOf = (follower: Follower): string => names.get(follower) ?? "";
  let count = 0;
  const freshName = (): string => {
    count += 1;
    return `suite-${count}`;
  };

  followerConformance({
    name: "s3-vectors",
    open: async () => opened(freshName()),
    reopen: async (follower) => opened(nameOf(follower)),
    second: async (follower) => opened(nameOf(follower)),
    remove: (follower) => opened(nameOf(follower)).clear(),
    outage: { begin: () => proxy.down(), end: () => proxy.up() },
  });
  followerConformance({
    name: "s3-vectors, all users in one index",
    open: async () => opened(freshName(), { indexes: 1 }),
    remove: (follower) => opened(nameOf(follower), { indexes: 1 }).clear(),
  });
});
