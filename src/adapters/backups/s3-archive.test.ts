import { S3 } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { backupArchiveConformance } from "../../testing/backup-archive-conformance.ts";
import { s3Archive } from "./s3-archive.ts";

/** The server of AWS's protocols that `test/services/up s3-vectors` starts; it speaks that of S3, too. */
const { KEEPSAKE_TEST_S3_VECTORS: endpoint } = process.env;
const credentials = { accessKeyId: "test", secretAccessKey: "test" };
let number = 0;

const open = (address = endpoint ?? ""): S3 =>
  new S3({ region: "eu-central-1", endpoint: address, credentials, forcePathStyle: true, maxAttempts: 1 });

async function makeBucket(): Promise<{ readonly client: S3; readonly bucket: string }> {
  number += 1;
  const client = open();
  const bucket = `backups-${process.pid}-${number}`;
  await client.createBucket({
    Bucket: bucket,
    CreateBucketConfiguration: { LocationConstraint: "eu-central-1" },
  });
  return { client, bucket };
}

describe.skipIf(endpoint === undefined)("backups in S3 (needs test/services/up s3-vectors)", () => {
  backupArchiveConformance({
    name: "in a bucket",
    open: async () => s3Archive({ ...(await makeBucket()), prefix: "memory/" }),
  });

  it("refuses a bucket that keeps versions, in which nothing is ever gone", async () => {
    const { client, bucket } = await makeBucket();
    await client.putBucketVersioning({ Bucket: bucket, VersioningConfiguration: { Status: "Enabled" } });
    await expect(s3Archive({ client, bucket }).list()).rejects.toMatchObject({ code: "unsupported" });
  });

  it("says that a bucket does not exist", async () => {
    const archive = s3Archive({ client: open(), bucket: "no-such-bucket" });
    await expect(archive.list()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("does not exist"),
    });
  });

  it("lists more backups than one page has", { timeout: 60_000 }, async () => {
    const { client, bucket } = await makeBucket();
    const archive = s3Archive({
      client: {
        ...toMethods(client),
        listObjectsV2: (input, options) => client.listObjectsV2({ ...input, MaxKeys: 2 }, options),
      },
      bucket,
    });
    for (let day = 1; day <= 5; day += 1)
      await client.putObject({ Bucket: bucket, Key: `keepsake-a-2026-03-0${day}T10-00-00Z.db`, Body: "x" });
    expect(await archive.list()).toHaveLength(5);
  });
});

it("reports a server that is down, without its address", async () => {
  const archive = s3Archive({ client: open("http://127.0.0.1:1"), bucket: "backups" });
  await expect(archive.list()).rejects.toMatchObject({
    code: "unavailable",
    message: expect.not.stringContaining("127.0.0.1"),
  });
});

/** The methods that lie on the prototype. */
function toMethods(client: S3) {
  return {
    putObject: client.putObject.bind(client),
    getObject: client.getObject.bind(client),
    deleteObject: client.deleteObject.bind(client),
    getBucketVersioning: client.getBucketVersioning.bind(client),
  };
}
