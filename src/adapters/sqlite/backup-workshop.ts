import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MemoryError } from "../../errors.ts";
import type { BackupWorkshop } from "../../ports/backup-archive.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Clock } from "../../ports/system.ts";
import { forkWorkerProcess, openWorkerChannel } from "../shared/worker-channel.ts";
import type { BackupReply, BackupRequest } from "./backup-process.ts";

interface WorkshopOptions {
  /** The database file. */
  readonly path: string;
  /** The key of row digests. */
  readonly digestKey: string;
  readonly clock: Clock;
}

/** Makes and checks backups in another process, so that no request waits for it; in a folder beside the database. */
export function createBackupWorkshop({ path, digestKey, clock }: WorkshopOptions): BackupWorkshop {
  const folder = `${resolve(path)}.backup-work`;
  const fileOf = (name: string): string => join(folder, name);
  return {
    fileOf,
    async copy(name, options = {}) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(name);
      const reply = await runInProcess({ copy: path, to: file }, options);
      if ("copied" in reply) return { ...reply.copied, file };
      throw new MemoryError("unavailable", "the backup could not be made. It will be tried again.");
    },
    async verify(file, { digest, counts }, options = {}) {
      const into = fileOf("restored.db");
      const at = clock().toISOString();
      const reply = await runInProcess({ verify: file, into, at, digestKey }, options);
      if (!("verified" in reply)) throw createUnverifiedBackupError("it could not be opened");
      const { verified } = reply;
      if (verified.digest !== digest) throw createUnverifiedBackupError("it is not what was written");
      if (verified.faults > 0) throw createUnverifiedBackupError("its rows are inconsistent");
      if (JSON.stringify(verified.counts) !== JSON.stringify(counts))
        throw createUnverifiedBackupError("rows are missing");
    },
    clean: () => rm(folder, { recursive: true, force: true }),
  };
}

async function runInProcess(request: BackupRequest, { signal }: CallOptions): Promise<BackupReply> {
  signal?.throwIfAborted();
  const channel = openWorkerChannel<BackupRequest, BackupReply>(() =>
    forkWorkerProcess(import.meta.url, "./backup-process", null),
  );
  const stop = (): void => void channel.close();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const outcome = await channel.request(request);
    signal?.throwIfAborted();
    if (!outcome.told)
      throw new MemoryError("unavailable", "the process of backups ended. It will be tried again.");
    const { told } = outcome;
    if ("message" in told && told.code !== undefined) throw new MemoryError(told.code, told.message);
    return told;
  } finally {
    signal?.removeEventListener("abort", stop);
    await channel.close();
  }
}

function createUnverifiedBackupError(reason: string): MemoryError {
  return new MemoryError(
    "corrupt",
    `the backup could not be restored (${reason}), and was removed. Check the disk or the bucket that it was written to.`,
  );
}
