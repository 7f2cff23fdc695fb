import type { Scope } from "../../domain/scope.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { mapInSlices } from "../../domain/time-slicing.ts";
import { MemoryError } from "../../errors.ts";
import type { DumpPart, DumpRow, StoreDump } from "../../ports/stores/store-dump.ts";
import type { KeyFolder } from "./key-folder.ts";
import {
  createSealer,
  type OpenedRow,
  openAnswer,
  openMemory,
  openMessage,
  openUnit,
  type Sealer,
  sealAnswer,
  sealMemory,
  sealMessage,
  sealUnit,
} from "./sealed-rows.ts";

/** Parts that an encrypted store does not hold. */
const WITHHELD_PARTS: ReadonlySet<DumpPart> = new Set<DumpPart>(["attachments", "shares"]);

/**
 * A dump of an encrypted store: it gives rows decrypted, and encrypts those that are put, as the store itself does. So a plain
 * and an encrypted store with the same content have the same digest. Throws `corrupt` for a row whose key is gone.
 */
export function createSealedDump(dump: StoreDump, folder: KeyFolder): StoreDump {
  const { read, ensure } = folder;
  return {
    ...dump,
    parts: dump.parts.filter((part) => !WITHHELD_PARTS.has(part)),
    async page(part, options) {
      const page = await dump.page(part, options);
      return { ...page, rows: await mapRows(part, page.rows, read, openRow) };
    },
    putRows: async (part, rows) => dump.putRows(part, await mapRows(part, rows, ensure, sealRow)),
  };
}

type RowMapper = (sealer: Sealer, row: DumpRow<DumpPart>) => DumpRow<DumpPart>;

const SEALED_PARTS: ReadonlySet<DumpPart> = new Set<DumpPart>(["messages", "versions", "units", "answers"]);

/** Maps rows with the keys of their users, which are read once a page. */
async function mapRows<Part extends DumpPart>(
  part: Part,
  rows: readonly DumpRow<Part>[],
  readKeys: KeyFolder["read"],
  map: RowMapper,
): Promise<readonly DumpRow<Part>[]> {
  if (!SEALED_PARTS.has(part)) return rows;
  const sealers = new Map<string, Sealer>();
  for (const row of rows) {
    const { project, user } = row as DumpRow<"messages">;
    const scope: Scope = { project, user };
    const key = toScopeKey(scope);
    if (!sealers.has(key)) sealers.set(key, createSealer(scope, await readKeys(scope)));
  }
  const mapped = await mapInSlices(rows, (row) => {
    const sealer = sealers.get(toScopeKey(row as DumpRow<"messages">));
    return sealer ? map(sealer, row) : row;
  });
  return mapped as readonly DumpRow<Part>[];
}

function sealRow(sealer: Sealer, row: DumpRow<DumpPart>): DumpRow<DumpPart> {
  if ("message" in row) return { ...row, message: sealMessage(sealer, row.message) };
  if ("memory" in row) return { ...row, memory: sealMemory(sealer, row.memory) };
  if ("unit" in row) return { ...row, unit: sealUnit(sealer, row.unit) };
  return "answer" in row ? { ...row, answer: sealAnswer(sealer, row.answer) } : row;
}

function openRow(sealer: Sealer, row: DumpRow<DumpPart>): DumpRow<DumpPart> {
  if ("message" in row) return { ...row, message: requireReadable(openMessage(sealer, row.message)) };
  if ("memory" in row) return { ...row, memory: requireReadable(openMemory(sealer, row.memory)) };
  if ("unit" in row) {
    const unit = openUnit(sealer, row.unit);
    return { ...row, unit: requireReadable({ row: unit, isReadable: unit.space === row.unit.space }) };
  }
  return "answer" in row ? { ...row, answer: openAnswer(sealer, row.answer) } : row;
}

function requireReadable<Row>({ row, isReadable }: OpenedRow<Row>): Row {
  if (isReadable) return row;
  throw new MemoryError(
    "corrupt",
    "encryption: a row cannot be decrypted with the keys that are there. `keepsake doctor` lists such rows.",
  );
}
