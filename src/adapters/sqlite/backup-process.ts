import { constants, setPriority } from "node:os";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import type { StoreCopy } from "../../ports/memory-store.ts";
import { serveInProcess } from "../shared/worker-channel.ts";
import { beginRestore, copyDatabase, countRows, openSqliteStore } from "./index.ts";

export type BackupRequest =
  | { readonly copy: string; readonly to: string }
  | {
      readonly verify: string;
      /** The path of the second store. */
      readonly into: string;
      /** The time for the name of a replaced database; there is none. */
      readonly at: string;
      readonly digestKey: string;
    };

export type BackupReply =
  | { readonly copied: StoreCopy }
  | {
      readonly verified: {
        readonly digest: string;
        readonly counts: StoreCopy["counts"];
        readonly faults: number;
      };
    }
  | { readonly code: ErrorCode | undefined; readonly message: string };

lowerPriority();
serveInProcess(async (request: BackupRequest): Promise<BackupReply> => {
  try {
    if ("copy" in request) return { copied: await copyDatabase(request.copy, request.to) };
    return { verified: await verify(request) };
  } catch (error) {
    if (isMemoryError(error)) return { code: error.code, message: error.message };
    return { code: undefined, message: error instanceof Error ? error.name : "error" };
  }
});

async function verify({
  verify: from,
  into: path,
  at,
  digestKey,
}: Extract<BackupRequest, { readonly verify: string }>) {
  const restoring = await beginRestore({ from, path, at });
  try {
    await restoring.finish();
  } catch (error) {
    throw restoring.abandon(error);
  }
  // Before the store is opened, which may finish work that was under way.
  const counts = countRows(path);
  const store = await openSqliteStore({ path, digestKey });
  try {
    return { digest: restoring.digest, counts, faults: restoring.faults + (await store.check()).length };
  } finally {
    await store.close();
  }
}

/** The server on the same machine goes first. */
function lowerPriority(): void {
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not allowed here: keep the normal priority.
  }
}
