import type { Item } from "../../domain/recall.ts";
import { toWordKey } from "../../domain/search/search-terms.ts";
import { neutralizeText } from "../../domain/text/prompt-safety.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import { cacheByHash, hashText, sanitizeForPrompt } from "../prompt-block.ts";

/** Position of a passage in its conversation: its turn, and the next turn of the session (-1 for none). */
export interface TurnPosition {
  readonly turn: number;
  readonly next: number;
}

/** A context and its approximate number of tokens. */
export interface PackedContext {
  readonly text: string;
  readonly tokens: number;
}

/**
 * Formats items as text for a prompt, within a budget of tokens (as `estimateTokens` counts). The best items
 * are taken first. The output lists current facts by the time they were said, then outdated ones, marked as
 * such. Each line is dated and names its source; duplicates are dropped. Consecutive passages share a line,
 * as they were said; `places` gives their positions, item by item.
 */
export function packContext(
  items: readonly Item[],
  maxTokens: number,
  promptGuard: PromptGuard,
  places: readonly (TurnPosition | undefined)[] = [],
): PackedContext {
  const entries: ContextEntry[] = [];
  const keys = new Set<string>();
  let tokens = 0;
  for (const [i, item] of items.entries()) {
    const key = hashWords(item.text, "");
    if (keys.has(key)) continue;
    const text = sanitizeForPrompt(item, promptGuard);
    if (text === "") continue;
    const one = { item, place: places[i], text: `${formatSpeaker(item)}${text}` };
    // One more for the line break.
    const cost = estimateTokens(formatLine([one])) + 1;
    if (tokens + cost > maxTokens) continue;
    keys.add(key);
    tokens += cost;
    entries.push(one);
  }
  const lines = groupAdjacent(entries).sort(([one], [other]) =>
    one && other
      ? rankStatus(one.item) - rankStatus(other.item) || (one.item.at < other.item.at ? 1 : -1)
      : 0,
  );
  const text = lines.map(formatLine).join("\n");
  return { text, tokens: estimateTokens(text) };
}

/** Equal for two texts that say the same. */
const hashWords = cacheByHash((text) => hashText(toWordKey(text)));

interface ContextEntry {
  readonly item: Item;
  readonly place: TurnPosition | undefined;
  /** Speaker and text on one line: a line break in the text could pass for another line. */
  readonly text: string;
}

/** Groups consecutive passages of equal status onto one line, in the order in which they were said. */
function groupAdjacent(taken: readonly ContextEntry[]): ContextEntry[][] {
  const byTurn = new Map<number, ContextEntry>();
  for (const one of taken) {
    // A second passage of the same message gets its own line.
    if (one.place && !byTurn.has(one.place.turn)) byTurn.set(one.place.turn, one);
  }
  const inRun = (one: ContextEntry): boolean => one.place !== undefined && byTurn.get(one.place.turn) === one;
  const follows = ({ item, place }: ContextEntry): ContextEntry | undefined => {
    const next = place && byTurn.get(place.next);
    return next && next.item.status === item.status ? next : undefined;
  };
  const followers = new Set(taken.filter(inRun).flatMap((one) => follows(one) ?? []));
  return taken
    .filter((one) => !followers.has(one))
    .map((one) => {
      const line = [one];
      for (let next = inRun(one) ? follows(one) : undefined; next; next = follows(next)) line.push(next);
      return line;
    });
}

function rankStatus({ status }: Item): number {
  return status === "current" ? 0 : 1;
}

/**
 * `- [2026-01-12] The user uses Shram. (message m1)`; with several passages, `- [2026-01-12] user: … /
 * assistant: … (messages m1, m2)`. What another user shares ends in ` (shared by ana)`.
 */
function formatLine(line: readonly ContextEntry[]): string {
  const first = line[0]?.item;
  if (!first) return "";
  const texts = line.map(({ text }) => text);
  const sources = line.flatMap(({ item }) => item.sources.at(-1)?.message ?? []);
  const from = sources.length === 0 ? "" : ` (message${sources.length > 1 ? "s" : ""} ${sources.join(", ")})`;
  const by = first.owner === undefined ? "" : ` (shared by ${formatName(first.owner)})`;
  return `- [${first.at.slice(0, 10)}]${formatStatusNote(first)} ${texts.join(" / ")}${from}${by}`;
}

function formatSpeaker({ type, sources }: Item): string {
  const source = sources.at(-1);
  return type === "passage" && source
    ? `${source.name === undefined ? source.role : formatName(source.name)}: `
    : "";
}

/** A name on one line, without characters that could start an instruction. */
function formatName(name: string): string {
  return neutralizeText(name).replace(/\s+/g, " ").trim().slice(0, 60);
}

function formatStatusNote({ status, validTo }: Item): string {
  if (status === "retracted") return " [was never so]";
  if (status === "superseded")
    return validTo ? ` [no longer so since ${validTo.slice(0, 10)}]` : " [no longer so]";
  return "";
}
