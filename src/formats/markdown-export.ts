import type { Claim } from "../domain/memory.ts";
import type { ShownMemory } from "../engine/api/listing-types.ts";
import type { ExportedPiece, ExportLine } from "../engine/api/transfer-types.ts";

/** Gives the topic of a statement, if it has one. */
type TopicFinder = (statement: { readonly text: string; readonly claim?: Claim }) => string | undefined;

const OTHER = "other";
const PAST = "no longer so";
/** Characters that Markdown or HTML would read as something else. */
const SPECIAL = /[\\`*_[\]<>#|~]/g;

/** Writes the memories of an export for people: a list by topic, newest first, and what no longer holds at the end. */
export async function* writeMarkdown(
  lines: AsyncIterable<ExportLine>,
  findTopic: TopicFinder,
): AsyncGenerator<ExportedPiece, void, void> {
  const sections = new Map<string, ShownMemory[]>();
  let title = "";
  for await (const line of lines) {
    if (line.type === "keepsake")
      title = `# ${escapeText(line.user)}\n\nExported ${line.exportedAt.slice(0, 10)}.\n`;
    const section = line.type === "memory" ? findSection(line.memory as ShownMemory, findTopic) : undefined;
    if (line.type !== "memory" || section === undefined) continue;
    const memories = sections.get(section) ?? [];
    memories.push(line.memory as ShownMemory);
    sections.set(section, memories);
  }
  const path = "memories.md";
  yield { path, text: title };
  const topics = [...sections.keys()].filter((name) => name !== OTHER && name !== PAST).toSorted();
  for (const name of [...topics, OTHER, PAST])
    if (sections.has(name)) yield { path, text: toSection(name, sections.get(name) ?? []) };
}

/** The section of a memory: its topic while it holds. What was never so, or waits for a person, has none. */
function findSection(memory: ShownMemory, findTopic: TopicFinder): string | undefined {
  if (memory.quarantined || memory.status === "retracted") return undefined;
  return memory.status === "superseded" ? PAST : (findTopic(memory) ?? OTHER);
}

function toSection(name: string, memories: readonly ShownMemory[]): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const sorted = memories.toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
  return `\n## ${title}\n\n${sorted.map(toItem).join("\n")}\n`;
}

function toItem({ text, at, validTo }: ShownMemory): string {
  const until = validTo === undefined ? "" : `, until ${validTo.slice(0, 10)}`;
  return `* ${escapeText(text)} (${at.slice(0, 10)}${until})`;
}

function escapeText(text: string): string {
  return text.replace(/\s+/g, " ").replace(SPECIAL, "\\$&");
}
