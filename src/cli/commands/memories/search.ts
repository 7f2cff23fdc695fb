import type { Kind, KindGroup } from "../../../domain/memory.ts";
import type { Item } from "../../../domain/recall.ts";
import type { ShownMemory } from "../../../engine/api/listing-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { EXIT } from "../../exit.ts";
import { colorText, dimText, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { createIdShortener } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface SearchCommandOptions extends CommonOptions {
  readonly kind?: Kind | KindGroup;
  readonly limit?: number;
  readonly all?: true;
}

/** A memory that a search found, and how. */
interface FoundMemory extends Pick<ShownMemory, "id" | "text" | "status" | "at"> {
  readonly kind?: Kind;
  /** By its meaning, as a recall finds it, or because its text contains the words. */
  readonly foundBy: "meaning" | "text";
  /** The words that the search and the memory share. */
  readonly words: readonly string[];
}

/**
 * Finds memories by meaning, and those whose text contains the words as they are. For browsing: it leaves no receipt, and does
 * not count as a use.
 */
export async function runSearch(text: string, options: SearchCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const limit = options.limit ?? 20;
    const byMeaning = await searchByMeaning(memory, text, options, limit);
    const known = new Set(byMeaning.map(({ id }) => id));
    const byText = (await searchByText(memory, text, options, limit)).filter(({ id }) => !known.has(id));
    const items = [...byMeaning, ...byText].slice(0, limit);
    print.result({ items }, () => formatFound(items));
    if (items.length === 0) print.note(describeNothing(options));
    return items.length === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

function describeNothing({ all }: SearchCommandOptions): string {
  return all ? "No memory found." : "No current memory found. --all also searches outdated and removed ones.";
}

async function searchByMeaning(
  memory: ScopedMemory,
  text: string,
  { kind, all }: SearchCommandOptions,
  limit: number,
): Promise<FoundMemory[]> {
  const { items } = await memory.recall(text, {
    limit,
    types: ["memory"],
    explain: true,
    record: false,
    shared: false,
    ...(kind === undefined ? {} : { kinds: [kind] }),
  });
  return items.filter(({ status }) => all || status === "current").map(toFoundMemory);
}

function toFoundMemory({ id, text, kind, status, at, why }: Item): FoundMemory {
  return {
    id,
    text,
    ...(kind === undefined ? {} : { kind }),
    status,
    at,
    foundBy: "meaning",
    words: why?.words ?? [],
  };
}

async function searchByText(
  memory: ScopedMemory,
  text: string,
  { kind, all }: SearchCommandOptions,
  limit: number,
): Promise<FoundMemory[]> {
  const literal = text.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const { items } = await memory.list({
    limit,
    whereText: { $regex: `(?i)${literal}` },
    ...(kind === undefined ? {} : { kind }),
    ...(all ? { status: "all" as const } : { quarantined: false }),
  });
  return items.map(({ id, text: found, kind: of, status, at }) => ({
    id,
    text: found,
    kind: of,
    status,
    at,
    foundBy: "text",
    words: [],
  }));
}

function formatFound(items: readonly FoundMemory[]): string[] {
  const shorten = createIdShortener(items.map(({ id }) => id));
  return formatTable(
    items.map(({ id, at, kind = "", status, text, words }) => [
      colorText("yellow", shorten(id)),
      dimText(formatDay(at)),
      colorText("cyan", kind),
      status === "current" ? "" : colorText("yellow", status),
      markWords(toShortLine(text), words),
    ]),
  );
}

/** Shows the words in bold that begin like one of `words`: "tools" for "tool". */
function markWords(text: string, words: readonly string[]): string {
  const wanted = words.map((word) => word.toLowerCase());
  return text.replace(/[\p{L}\p{N}]+/gu, (word) => {
    const lower = word.toLowerCase();
    return wanted.some((one) => isAlike(lower, one)) ? colorText("bold", word) : word;
  });
}

function isAlike(word: string, wanted: string): boolean {
  const [short, long] = word.length < wanted.length ? [word, wanted] : [wanted, word];
  const stem = short.length > 3 ? short.slice(0, -1) : short;
  return word === wanted || (short.length > 2 && long.startsWith(stem) && long.length - short.length <= 3);
}
