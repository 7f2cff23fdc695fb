import type { Claim } from "../domain/memory.ts";
import { createPause, sortInSlices, yieldToEventLoop } from "../domain/time-slicing.ts";
import type { ShownMemory } from "../engine/api/listing-types.ts";
import type { ExportedPiece, ExportLine } from "../engine/api/transfer-types.ts";

/** Gives the topic of a statement, if it has one. */
type TopicFinder = (statement: { readonly text: string; readonly claim?: Claim }) => string | undefined;

const OTHER = "other";
const PAST = "no longer so";
/** Characters that Markdown or HTML would read as something else. */
const SPECIAL = /[\\`*_[\]<>#|~]/g;

/**
 * Writes the memories of an export for people: a list by topic, newest first, and what no longer holds at the end. Pauses for
 * other work.
 */
export async function* writeMarkdown(
  lines: AsyncIterable<ExportLine>,
  findTopic: TopicFinder,
): AsyncGenerator<ExportedPiece, void, void> {
  const { title, sections, quarantined } = await collectSections(lines, findTopic);
  const path = "memories.md";
  yield { path, text: title, ...(quarantined > 0 ? { quarantined } : {}) };
  const topics = [...sections.keys()].filter((name) => name !== OTHER && name !== PAST).toSorted();
  for (const name of [...topics, OTHER, PAST])
    for await (const text of writeSection(name, sections.get(name) ?? [])) yield { path, text };
}

interface CollectedSections {
  readonly title: string;
  readonly sections: ReadonlyMap<string, readonly ShownMemory[]>;
  /** Memories that wait for a review. */
  readonly quarantined: number;
}

async function collectSections(
  lines: AsyncIterable<ExportLine>,
  findTopic: TopicFinder,
): Promise<CollectedSections> {
  const sections = new Map<string, ShownMemory[]>();
  const pause = createPause();
  let title = "";
  let quarantined = 0;
  for await (const line of lines) {
    await pause();
    if (line.type === "keepsake")
      title = `# ${escapeText(line.user)}\n\nExported ${line.exportedAt.slice(0, 10)}.\n`;
    if (line.type !== "memory") continue;
    const memory = line.memory as ShownMemory;
    if (memory.quarantined) quarantined += 1;
    const section = findSection(memory, findTopic);
    if (section === undefined) continue;
    const memories = sections.get(section) ?? [];
    sections.set(section, memories);
    memories.push(memory);
  }
  return { title, sections, quarantined };
}

/** The section of a memory: its topic while it holds. A memory that was never true, or waits for a review, has none. */
function findSection(memory: ShownMemory, findTopic: TopicFinder): string | undefined {
  if (memory.quarantined || memory.status === "retracted") return undefined;
  return memory.status === "superseded" ? PAST : (findTopic(memory) ?? OTHER);
}

/** Items of a piece. */
const ITEMS = 500;

async function* writeSection(
  name: string,
  memories: readonly ShownMemory[],
): AsyncGenerator<string, void, void> {
  if (memories.length === 0) return;
  const sorted = await sortInSlices(memories, (one, other) =>
    one.at < other.at ? 1 : one.at > other.at ? -1 : 0,
  );
  yield `\n## ${name.charAt(0).toUpperCase()}${name.slice(1)}\n\n`;
  for (let from = 0; from < sorted.length; from += ITEMS) {
    yield `${sorted
      .slice(from, from + ITEMS)
      .map(toItem)
      .join("\n")}\n`;
    await yieldToEventLoop();
  }
}

function toItem({ text, at, validTo }: ShownMemory): string {
  const until = validTo === undefined ? "" : `, until ${validTo.slice(0, 10)}`;
  return `* ${escapeText(text)} (${at.slice(0, 10)}${until})`;
}

function escapeText(text: string): string {
  return text.replace(/\s+/g, " ").replace(SPECIAL, "\\$&");
}
