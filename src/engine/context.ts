import type { Item } from "../domain/recall.ts";
import { estimateTokens } from "../domain/tokens.ts";
import { wordKey } from "../domain/words.ts";

/**
 * Items as text for a prompt, within a budget of tokens (as `estimateTokens` counts). The best are taken first, as far
 * as the budget goes; what is taken is set down newest truth first: what holds, by when it was said, then what no
 * longer does, and says so. Each line is dated and names its source; nothing stands there twice.
 */
export function packContext(items: readonly Item[], maxTokens: number): { text: string; tokens: number } {
  const taken: { item: Item; line: string }[] = [];
  const said = new Set<string>();
  let tokens = 0;
  for (const item of items) {
    const key = wordKey(item.text);
    if (said.has(key)) continue;
    const line = lineOf(item);
    // One more for the line break.
    const cost = estimateTokens(line) + 1;
    if (tokens + cost > maxTokens) continue;
    said.add(key);
    tokens += cost;
    taken.push({ item, line });
  }
  taken.sort(
    (one, other) => standing(one.item) - standing(other.item) || (one.item.at < other.item.at ? 1 : -1),
  );
  const text = taken.map(({ line }) => line).join("\n");
  return { text, tokens: estimateTokens(text) };
}

function standing({ status }: Item): number {
  return status === "current" ? 0 : 1;
}

/** `- [2026-01-12] The user uses Shram. (message m1)`; a line break in the text would pass for another line. */
function lineOf(item: Item): string {
  const text = item.text.replace(/\s+/g, " ").trim();
  const source = item.sources.at(-1);
  const speaker = item.type === "passage" && source ? `${source.name ?? source.role}: ` : "";
  const from = source ? ` (message ${source.message})` : "";
  return `- [${item.at.slice(0, 10)}]${note(item)} ${speaker}${text}${from}`;
}

function note({ status, validTo }: Item): string {
  if (status === "retracted") return " [was never so]";
  if (status === "superseded")
    return validTo ? ` [no longer so since ${validTo.slice(0, 10)}]` : " [no longer so]";
  return "";
}
