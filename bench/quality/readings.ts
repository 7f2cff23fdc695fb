import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { englishExtractor } from "../../src/language/en/extractor.ts";
import { flattened } from "../../src/language/en/grammar/known-memory.ts";
import type { RulesExtractor } from "../../src/language/en/grammar/rules.ts";

/** Readings of earlier runs, by a digest of what was read: another run over the same data need not repeat them. */
export interface SavedReadings {
  /** The built-in extractor. It reads a message only if no earlier run read it in the same context. */
  readonly extractor: RulesExtractor;
  /** How many messages were taken from earlier runs, and how many were read. */
  counts(): { readonly saved: number; readonly read: number };
  /** Appends the new readings to the file. */
  save(): void;
}

/**
 * Opens a file of readings, one JSON line each; a missing file is an empty one. A digest covers the messages, the turns
 * before them and the known memories, and not the code, so a file serves one version. Random ids are replaced by their order, so
 * that they do not matter.
 */
export function openReadings(path: string): SavedReadings {
  const known = readLines(path);
  const added: string[] = [];
  const counts = { saved: 0, read: 0 };
  const inner = englishExtractor();
  const extractor: RulesExtractor = {
    ...inner,
    async propose(reading, options) {
      const { messages, earlier } = reading;
      const ids = createIdOrder();
      const input = ids.replace(JSON.stringify([messages, earlier, flattened(reading.known)]));
      const key = createHash("sha256").update(input).digest("base64");
      const line = known.get(key);
      if (line !== undefined) {
        counts.saved += 1;
        return JSON.parse(ids.restore(line));
      }
      counts.read += 1;
      let usesEnded = false;
      const ended = (): ReturnType<NonNullable<typeof reading.ended>> => {
        usesEnded = true;
        return reading.ended?.() ?? [];
      };
      const proposals = await inner.propose({ ...reading, ended }, options);
      const idsRead = ids.count();
      const output = ids.replace(JSON.stringify(proposals));
      // What has ended is no part of the digest, and an id that is not in the input cannot be restored.
      if (!usesEnded && ids.count() === idsRead) added.push(JSON.stringify([key, output]));
      return proposals;
    },
  };
  return {
    extractor,
    counts: () => ({ ...counts }),
    save: () =>
      appendFileSync(
        path,
        added
          .splice(0)
          .map((line) => `${line}\n`)
          .join(""),
      ),
  };
}

function readLines(path: string): Map<string, string> {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const ORDINAL = /<id (\d+)>/g;

/** Random ids, numbered in the order in which they occur in the input. */
interface IdOrder {
  replace(json: string): string;
  restore(json: string): string;
  /** How many there are. */
  count(): number;
}

function createIdOrder(): IdOrder {
  const ids: string[] = [];
  const numbers = new Map<string, number>();
  const toNumber = (id: string): number => {
    const number = numbers.get(id) ?? ids.push(id) - 1;
    numbers.set(id, number);
    return number;
  };
  return {
    replace: (json) => json.replaceAll(UUID, (id) => `<id ${toNumber(id)}>`),
    restore: (json) => json.replaceAll(ORDINAL, (text, number: string) => ids[Number(number)] ?? text),
    count: () => ids.length,
  };
}
