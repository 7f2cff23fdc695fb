import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { KeyStore } from "../../http/index.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { Record } from "../../ports/record.ts";

/** A database that is moved, or moved into, with what belongs beside it. */
export interface Place {
  /** For people: without a password. */
  readonly shown: string;
  readonly record: Record;
  readonly keys: KeyStore;
  /** What was erased, outside of the record; by the record's identity, which a move changes. */
  ledger(identity: string): Ledger | undefined;
  /** Where the secret is kept, unless KEEPSAKE_SECRET is set. */
  readonly secretFile?: string;
  close(): Promise<void>;
}

export type PlaceSettings = Pick<Settings, "secret" | "backends">;

/** Opens the database that a URL or a path names: `sqlite:///FILE`, a file, `postgresql://…`. */
export async function openPlace(
  named: string,
  access: "reads" | "writes",
  settings: PlaceSettings,
): Promise<Place> {
  const scheme = /^([a-z][a-z+]*):\/\//i.exec(named)?.[1]?.toLowerCase();
  if (scheme === "postgresql" || scheme === "postgres") return postgresPlace(named, settings);
  if (scheme === undefined) return sqlitePlace(named, access);
  if (scheme === "sqlite" && named.startsWith("sqlite:///")) {
    return sqlitePlace(named.slice("sqlite:///".length), access);
  }
  throw noSuch(scheme);
}

async function postgresPlace(url: string, { secret, backends }: PlaceSettings): Promise<Place> {
  if (secret === undefined) {
    throw invalid(
      "move: with PostgreSQL, KEEPSAKE_SECRET must be set: to what the file beside the database that ends in .secret holds.",
    );
  }
  const { connections } = backends?.postgres ?? {};
  const { prefix: schema } = backends ?? {};
  const { openPostgres } = await import("../../config/backends/postgres.ts");
  const { shownAddress } = await import("../../config/backends/index.ts");
  const { sharedKeys } = await import("../../http/index.ts");
  const { record, close } = await openPostgres(
    {
      url,
      ...(schema === undefined ? {} : { schema }),
      ...(connections === undefined ? {} : { connections }),
    },
    { secret, timeoutMs: LONG_MS },
  );
  return {
    shown: shownAddress(url),
    record,
    keys: sharedKeys(record.documents),
    ledger: () => undefined,
    close,
  };
}

/** A page of a thousand rows may take its time where the server has other things to do. */
const LONG_MS = 120_000;

function noSuch(scheme: string): MemoryError {
  return invalid(`move: ${scheme}:// names no database. Use sqlite:///FILE or postgresql://HOST/NAME.`);
}

/** Two names of one place are the same text. */
export function keyOf(named: string): string {
  const file = named.startsWith("sqlite:///") ? named.slice("sqlite:///".length) : named;
  if (/^[a-z][a-z+]*:\/\//i.test(file)) return file.replace(/^postgres:/i, "postgresql:");
  const path = resolve(file);
  if (existsSync(path)) return realpathSync(path);
  return existsSync(dirname(path))
    ? join(realpathSync(dirname(path)), file.split(/[\\/]/).at(-1) ?? "")
    : path;
}

async function sqlitePlace(path: string, access: "reads" | "writes"): Promise<Place> {
  if (path === ":memory:" || path === "") throw invalid("move: a memory that keeps nothing cannot be moved.");
  if (access === "reads" && !existsSync(path)) {
    throw new MemoryError("unavailable", `there is no database ${path}. Name another with --db.`);
  }
  const { fileLedger, openSqliteRecord } = await import("../../adapters/sqlite/index.ts");
  const { keysFile, keysPathOf } = await import("../../http/index.ts");
  const record = await openSqliteRecord({ path });
  return {
    shown: path,
    record,
    keys: keysFile(keysPathOf(path)),
    ledger: (identity) => fileLedger(`${path}.erasures`, identity),
    secretFile: `${path}.secret`,
    close: () => record.close(),
  };
}
