import { randomUUID } from "node:crypto";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { Pinecone } from "@pinecone-database/pinecone";
import { describe } from "vitest";
import { pineconeFollower } from "../../src/adapters/pinecone/index.ts";
import { s3VectorsFollower } from "../../src/adapters/s3-vectors/index.ts";
import { type HttpProxy, httpProxy } from "../../src/testing/http-proxy.ts";
import { type PineconeServer, pineconeServer } from "../../src/testing/pinecone-server.ts";
import { type Hosted, treatedBadly } from "./treated-badly.ts";

const PATIENCE = { timeoutMs: 250, deadlineMs: 500 } as const;
const FAULTS = ["is down", "is slow", "has too many requests", "answers 503", "hangs", "comes back empty"];
/** What is only empty is no failure: it is filled again. */
const NOTICED = FAULTS.filter((fault) => fault !== "comes back empty");
const SILENT = "shows nothing of what it takes in";

async function pinecone(): Promise<Hosted> {
  const server: PineconeServer = await pineconeServer({ lagMs: 20 });
  const client = new Pinecone({ apiKey: "test", controllerHostUrl: server.url, maxRetries: 0 });
  const meets = (trouble: NonNullable<PineconeServer["always"]>) => async () => {
    server.always = trouble;
    return async () => {
      server.always = undefined;
    };
  };
  return {
    follower: () => pineconeFollower({ client, settleMs: 5000, ...PATIENCE }),
    faults: {
      "is down": async () => {
        await server.down();
        return () => server.up();
      },
      "is slow": meets({ afterMs: 600 }),
      "has too many requests": meets({ status: 429 }),
      "answers 503": meets({ status: 503 }),
      hangs: meets({ it: "hangs" }),
      "comes back empty": async () => {
        server.empty();
        return async () => {};
      },
      [SILENT]: async () => {
        server.lagMs = 60_000;
        return async () => {
          server.lagMs = 20;
        };
      },
    },
    noticed: [...NOTICED, SILENT],
    close: () => server.close(),
  };
}

async function s3Vectors(address: string): Promise<Hosted> {
  const proxy: HttpProxy = await httpProxy(address);
  const bucket = `keepsake-${randomUUID()}`;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const clientOf = (endpoint: string): S3Vectors =>
    new S3Vectors({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
  const [client, direct] = [clientOf(proxy.url), clientOf(address)];
  // moto loads most of itself with its first request, which takes long where the disk is cold.
  await direct.listVectorBuckets();
  const meets = (trouble: NonNullable<HttpProxy["always"]>) => async () => {
    proxy.always = trouble;
    return async () => {
      proxy.always = undefined;
    };
  };
  const refusal = (status: number, name: string) =>
    meets({ status, headers: { "x-amzn-errortype": name, "content-type": "application/json" }, body: "{}" });
  const emptied = async (): Promise<void> => {
    const { indexes = [] } = await direct.listIndexes({ vectorBucketName: bucket });
    for (const { indexName } of indexes) await direct.deleteIndex({ vectorBucketName: bucket, indexName });
    await direct.deleteVectorBucket({ vectorBucketName: bucket });
  };
  return {
    follower: () => s3VectorsFollower({ client, bucket, ...PATIENCE }),
    faults: {
      "is down": async () => {
        await proxy.down();
        return () => proxy.up();
      },
      "is slow": meets({ afterMs: 600 }),
      "has too many requests": refusal(429, "TooManyRequestsException"),
      "answers 503": refusal(503, "ServiceUnavailableException"),
      hangs: meets({ it: "hangs" }),
      "comes back empty": async () => {
        await emptied();
        return async () => {};
      },
    },
    noticed: NOTICED,
    async close() {
      await emptied();
      client.destroy();
      direct.destroy();
      await proxy.close();
    },
  };
}

describe("Pinecone, treated badly", () => {
  treatedBadly(pinecone, [...FAULTS, SILENT]);
});

const address = process.env.KEEPSAKE_TEST_S3_VECTORS;
const why = 'needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)"';

describe.skipIf(!address)(`S3 Vectors, treated badly (${address ? "a server of its protocol" : why})`, () => {
  treatedBadly(() => s3Vectors(address ?? ""), FAULTS);
});
