import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { KeyStore } from "../../http/index.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { MemoryStore } from "../../ports/record.ts";

/** A database that is moved, or moved into, with what belongs beside it. */
export interface MoveEndpoint {
  /** For people: without a password. */
  readonly displayName: string;
  readonly record: MemoryStore;
  readonly keys: KeyStore;
  /** What was erased, outside of the record; by the record's identity, which a move changes. */
  ledger(identity: string): Ledger | undefined;
  /** Where the secret is kept, unless KEEPSAKE_SECRET is set. */
  readonly secretFile?: string;
  close(): Promise<void>;
}

export type MoveEndpointSettings = Pick<Settings, "path" | "secret" | "backends">;

/** Opens the database that settings name, with what lies beside it. */
export async function openEndpoint(
  settings: MoveEndpointSettings,
  access: "reads" | "writes",
): Promise<MoveEndpoint> {
  return settings.backends?.postgres
    ? openPostgresEndpoint(settings)
    : openSqliteEndpoint(settings.path, access);
}

async function openPostgresEndpoint({ secret, backends }: MoveEndpointSettings): Promise<MoveEndpoint> {
  const settings = backends?.postgres ?? { url: "" };
  const { openPostgres } = await import("../../config/backends/postgres.ts");
  const { redactAddress: shownAddress } = await import("../../config/backends/index.ts");
  const { sharedKeys } = await import("../../http/index.ts");
  const { fileLedger } = await import("../../adapters/sqlite/index.ts");
  const { ledger } = settings;
  const { record, close } = await openPostgres(settings, {
    ...(secret === undefined ? {} : { secret }),
    timeoutMs: MOVE_TIMEOUT_MS,
  });
  return {
    displayName: shownAddress(settings.url),
    record,
    keys: sharedKeys(record.documents),
    ledger: (identity) => (ledger === undefined ? undefined : fileLedger(ledger, identity)),
    close,
  };
}

/** A page of a thousand rows may take its time where the server has other things to do. */
const MOVE_TIMEOUT_MS = 120_000;

/** Two names of one place are the same text. */
export function toEndpointKey({ path, backends }: MoveEndpointSettings): string {
  const { postgres } = backends ?? {};
  if (postgres) return `${postgres.url.replace(/^postgres:/i, "postgresql:")} ${postgres.schema ?? ""}`;
  const file = resolve(path);
  if (existsSync(file)) return realpathSync(file);
  return existsSync(dirname(file)) ? join(realpathSync(dirname(file)), basename(file)) : file;
}

async function openSqliteEndpoint(path: string, access: "reads" | "writes"): Promise<MoveEndpoint> {
  if (path === ":memory:" || path === "") throw invalid("move: a memory that keeps nothing cannot be moved.");
  if (access === "reads" && !existsSync(path)) {
    throw new MemoryError("unavailable", `there is no database ${path}. Name another with --db.`);
  }
  const { fileLedger, openSqliteStore: openSqliteRecord } = await import("../../adapters/sqlite/index.ts");
  const { keysFile, keysPathOf } = await import("../../http/index.ts");
  const record = await openSqliteRecord({ path });
  return {
    displayName: path,
    record,
    keys: keysFile(keysPathOf(path)),
    ledger: (identity) => fileLedger(`${path}.erasures`, identity),
    secretFile: `${path}.secret`,
    close: () => record.close(),
  };
}
