import { readFileSync } from "node:fs";
import { join } from "node:path";
import { S3 } from "@aws-sdk/client-s3";
import { afterEach, describe, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";
import { keepsakeWith, place, type Ran } from "../e2e/shell.ts";

/** The server of AWS's protocols that `test/services/up s3-vectors` starts; it speaks that of S3, too. */
const { KEEPSAKE_TEST_S3_VECTORS: endpoint } = process.env;
const why = endpoint ? "" : ' (needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)")';
const REGION = "eu-central-1";
const bucket = `server-backups-${process.pid}`;
const SETTINGS = {
  KEEPSAKE_BACKUP_TO: `s3://${bucket}/memory`,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_ENDPOINT_URL_S3: endpoint ?? "",
};

let server: Running | undefined;
afterEach(async () => {
  await server?.end("SIGKILL");
  server = undefined;
});

const keepsake = (...words: string[]): Promise<Ran> => keepsakeWith({ env: SETTINGS }, ...words);

describe.skipIf(!endpoint)(
  `backups that a server makes in a bucket of S3${why}`,
  { timeout: 180_000 },
  () => {
    it("are there soon after the start, are verified, restore what was said, and are named by a receipt", async () => {
      const client = new S3({
        region: REGION,
        endpoint: endpoint ?? "",
        credentials: { accessKeyId: "test", secretAccessKey: "test" },
        forcePathStyle: true,
      });
      await client.createBucket({
        Bucket: bucket,
        CreateBucketConfiguration: { LocationConstraint: REGION },
      });
      const path = join(place, "memory.db");
      const remembered = await keepsake(
        "remember",
        "I use Shram and Magnet as productivity tools.",
        "--db",
        path,
      );
      expect(remembered.status).toBe(0);
      server = await started(path, SETTINGS);
      const listKeys = async (): Promise<string[]> =>
        ((await client.listObjectsV2({ Bucket: bucket })).Contents ?? []).map(({ Key }) => Key ?? "");
      await expect
        .poll(listKeys, { timeout: 60_000 })
        .toEqual([expect.stringMatching(/^memory\/keepsake-\w{12}-[\dT-]+Z\.db$/)]);
      const list = async () => (await keepsake("backups", "--db", path, "--json")).json.backups;
      await expect.poll(list, { timeout: 60_000 }).toMatchObject([{ is_verified: true }]);
      const [{ name }] = await list();
      const metrics = await fetch(`${server.url}/metrics`, {
        headers: { authorization: `Bearer ${server.key}` },
      });
      const [, seconds = "0"] = /^keepsake_backup_timestamp_seconds (\S+)/m.exec(await metrics.text()) ?? [];
      expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(120);
      expect(await server.end()).toBe(0);

      const forgotten = await keepsake("forget", "Magnet", "--yes", "--db", path, "--json");
      expect(forgotten.json).toMatchObject({ complete: true, backups: [{ name }] });
      const fetched = await keepsake("backups", "--fetch", name, "--to", "fetched.db", "--db", path);
      expect(fetched.status).toBe(0);
      expect(readFileSync(join(place, "fetched.db"), "latin1")).toContain("Magnet");
      const restored = await keepsake("restore", "fetched.db", "--yes", "--db", path);
      expect([restored.status, restored.out]).toEqual([0, expect.stringContaining("Applied 1 erasure")]);
      const answer = await keepsake("answer", "What productivity tools do I use?", "--db", path, "--json");
      expect(answer.json.text).toBe("You use Shram.");
    });
  },
);
