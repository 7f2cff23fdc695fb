import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invalid, MemoryError } from "../../errors.ts";
import type { ArchivedBackup, BackupArchive } from "../../ports/backup-archive.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { BACKUP_NAME_PATTERN, checkBackupName } from "./folder-archive.ts";

interface S3CallOptions {
  readonly abortSignal?: AbortSignal;
}

/** The part of `S3` of `@aws-sdk/client-s3` (tested with 3.1137) that is used. */
export interface S3Client {
  /** Lists objects by the beginning of their keys, in pages. */
  listObjectsV2(
    input: { Bucket: string; Prefix: string; ContinuationToken?: string },
    options?: S3CallOptions,
  ): Promise<{
    readonly Contents?:
      | readonly { readonly Key?: string | undefined; readonly Size?: number | undefined }[]
      | undefined;
    readonly NextContinuationToken?: string | undefined;
  }>;
  /** Stores an object. */
  putObject(
    input: { Bucket: string; Key: string; Body: Readable; ContentLength: number; ChecksumSHA256: string },
    options?: S3CallOptions,
  ): Promise<unknown>;
  /** Reads an object; its body is a stream. */
  getObject(
    input: { Bucket: string; Key: string },
    options?: S3CallOptions,
  ): Promise<{ readonly Body?: unknown }>;
  /** Deletes an object. */
  deleteObject(input: { Bucket: string; Key: string }, options?: S3CallOptions): Promise<unknown>;
  /** Tells whether the bucket keeps versions. */
  getBucketVersioning(
    input: { Bucket: string },
    options?: S3CallOptions,
  ): Promise<{ readonly Status?: string | undefined }>;
}

/** Options of `s3Archive`. */
export interface S3ArchiveOptions {
  /** `new S3({ region })` of `@aws-sdk/client-s3`. */
  readonly client: S3Client;
  /** A bucket that keeps no versions. */
  readonly bucket: string;
  /** The beginning of the keys, such as "backups/" (none). */
  readonly prefix?: string;
  /** Time limit of an upload or a download, in ms (one hour). */
  readonly timeoutMs?: number;
}

/** What S3 takes in one request. */
const MOST_BYTES = 5 * 1024 ** 3;
const TRANSFER_MS = 3_600_000;
const CALL_MS = 30_000;

/**
 * Keeps backups as objects in a bucket of S3, or of a server of its protocol. Throws `unsupported` if the bucket keeps versions:
 * a removed backup would stay there. Throws `unavailable` if it cannot be reached, and `forbidden` if it refuses the credentials.
 */
export function s3Archive({
  client,
  bucket,
  prefix = "",
  timeoutMs = TRANSFER_MS,
}: S3ArchiveOptions): BackupArchive {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw invalid("bucket: name a bucket of S3.");
  const keyOf = (name: string) => ({ Bucket: bucket, Key: `${prefix}${checkBackupName(name)}` });
  let isChecked = false;
  const checkVersions = async (options: S3CallOptions): Promise<void> => {
    if (isChecked) return;
    const { Status: status } = await client.getBucketVersioning({ Bucket: bucket }, options);
    if (status !== undefined) throw createVersionsError();
    isChecked = true;
  };
  const call = async <Result>(
    { signal }: CallOptions,
    ms: number,
    work: (options: S3CallOptions) => Promise<Result>,
    name = "",
  ): Promise<Result> => {
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(ms);
    const options = { abortSignal: signal ? AbortSignal.any([signal, late]) : late };
    try {
      await checkVersions(options);
      return await work(options);
    } catch (error) {
      signal?.throwIfAborted();
      throw toArchiveError(error, name);
    }
  };
  return {
    name: "s3",

    list: (options = {}) =>
      call(options, CALL_MS, async (request) => {
        const found: ArchivedBackup[] = [];
        let token: string | undefined;
        do {
          const next = token === undefined ? {} : { ContinuationToken: token };
          const page = await client.listObjectsV2(
            { Bucket: bucket, Prefix: `${prefix}keepsake-`, ...next },
            request,
          );
          found.push(...toBackups(page.Contents ?? [], prefix));
          token = page.NextContinuationToken;
        } while (token !== undefined);
        return found;
      }),

    put: (name, file, digest, options = {}) =>
      call(options, timeoutMs, async (request) => {
        const { size } = await stat(file);
        if (size > MOST_BYTES) throw createSizeError();
        const ChecksumSHA256 = Buffer.from(digest, "hex").toString("base64");
        const Body = createReadStream(file);
        // The client reports it; without a listener, it would end the process.
        Body.on("error", () => {});
        try {
          await client.putObject({ ...keyOf(name), Body, ContentLength: size, ChecksumSHA256 }, request);
        } finally {
          Body.destroy();
        }
      }),

    fetch: (name, file, options = {}) =>
      call(
        options,
        timeoutMs,
        async (request) => {
          const { Body: body } = await client.getObject(keyOf(name), request);
          const to = createWriteStream(file, { flags: "wx", mode: 0o600, flush: true });
          await pipeline(body as Readable, to, {
            ...(request.abortSignal ? { signal: request.abortSignal } : {}),
          });
        },
        name,
      ),

    remove: (name, options = {}) =>
      call(options, CALL_MS, async (request) => {
        await client.deleteObject(keyOf(name), request);
      }),
  };
}

function toBackups(
  objects: readonly { readonly Key?: string | undefined; readonly Size?: number | undefined }[],
  prefix: string,
): ArchivedBackup[] {
  return objects
    .map(({ Key: key = "", Size: bytes = 0 }) => ({ name: key.slice(prefix.length), bytes }))
    .filter(({ name }) => BACKUP_NAME_PATTERN.test(name));
}

/** Turns an error of the client into ours. Its own message may contain keys. */
function toArchiveError(error: unknown, name: string): unknown {
  if (error instanceof MemoryError) return error;
  const { name: code = "", $metadata: metadata } = error as {
    readonly name?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  if (code === "NoSuchKey")
    return new MemoryError("not_found", `there is no backup ${name}. \`keepsake backups\` lists them.`);
  if (code === "NoSuchBucket")
    return new MemoryError(
      "unavailable",
      "the bucket of backups does not exist. Create it, without versions.",
    );
  if (metadata?.httpStatusCode === 403 || /Credentials/.test(code)) {
    return new MemoryError(
      "forbidden",
      "the bucket of backups refuses the credentials. They need to list, get, put and delete objects, and s3:GetBucketVersioning.",
      { cause: error },
    );
  }
  return new MemoryError("unavailable", "the bucket of backups cannot be reached. It will be tried again.", {
    cause: error,
  });
}

function createVersionsError(): MemoryError {
  return new MemoryError(
    "unsupported",
    "the bucket of backups keeps versions, so what is removed stays there. Use a bucket on which versioning was never enabled.",
  );
}

function createSizeError(): MemoryError {
  return new MemoryError(
    "unsupported",
    "the database is larger than 5 GiB, which S3 does not take in one object.",
  );
}
