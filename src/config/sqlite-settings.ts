import * as z from "zod";
import type { SqliteTuning } from "../adapters/sqlite/index.ts";

interface SqliteSetting {
  readonly schema: z.ZodType;
  readonly allowed: string;
}

function createFixedSetting(allowed: string, pattern: RegExp): SqliteSetting {
  return { schema: z.string().regex(pattern), allowed };
}

function createRangeSetting(ranges: readonly (readonly [number, number])[], allowed: string): SqliteSetting {
  const isWithin = (text: string): boolean =>
    ranges.some(([least, most]) => Number(text) >= least && Number(text) <= most);
  return {
    schema: z
      .string()
      .regex(/^-?\d{1,10}$/)
      .refine(isWithin),
    allowed,
  };
}

/** SQLite's pragmas as settings. Values that would lose acknowledged writes or erased bytes are refused. */
export const SQLITE_SETTINGS: { readonly [name: string]: SqliteSetting } = {
  KEEPSAKE_SQLITE_JOURNAL_MODE: createFixedSetting("WAL, because readers wait in other modes", /^wal$/i),
  KEEPSAKE_SQLITE_SYNCHRONOUS: createFixedSetting(
    "FULL or EXTRA, because others lose acknowledged writes when the power fails",
    /^(?:full|extra)$/i,
  ),
  KEEPSAKE_SQLITE_FOREIGN_KEYS: createFixedSetting("ON, because the data relies on them", /^(?:on|true|1)$/i),
  KEEPSAKE_SQLITE_TEMP_STORE: createFixedSetting(
    "MEMORY, because a temporary file would hold words",
    /^memory$/i,
  ),
  KEEPSAKE_SQLITE_CACHE_SIZE: createRangeSetting(
    [
      [-4_000_000, -1000],
      [100, 500_000],
    ],
    "KiB from -4000000 to -1000, or pages from 100 to 500000",
  ),
  KEEPSAKE_SQLITE_MMAP_SIZE: createRangeSetting([[0, 1_073_741_824]], "bytes from 0 to 1073741824"),
};

/** Parses the SQLite settings; `undefined` if none changes anything. */
export function parseSqliteSettings(values: ReadonlyMap<string, string>): SqliteTuning | undefined {
  const cacheSize = values.get("KEEPSAKE_SQLITE_CACHE_SIZE");
  const mmapBytes = values.get("KEEPSAKE_SQLITE_MMAP_SIZE");
  const settings: SqliteTuning = {
    ...(cacheSize === undefined ? {} : { cacheSize: Number(cacheSize) }),
    ...(mmapBytes === undefined ? {} : { mmapBytes: Number(mmapBytes) }),
    ...(/^extra$/i.test(values.get("KEEPSAKE_SQLITE_SYNCHRONOUS") ?? "") ? { syncsFolder: true } : {}),
    ...(values.has("KEEPSAKE_SQLITE_TEMP_STORE") ? { hasTempInMemory: true } : {}),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}
