import type { Item } from "../../domain/recall.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { neutralizeText } from "../../domain/text/prompt-safety.ts";
import { weighTokens } from "../../domain/text/split-text.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import { sanitizeForPrompt } from "../prompt-block.ts";

/** The part of a context that is for one request. */
interface PackedRequest {
  readonly text: string;
  /** What went in, best first. */
  readonly items: readonly Item[];
  /** The number of items that did not fit. */
  readonly left: number;
}

interface Line {
  readonly item: Item;
  readonly day: string;
  readonly text: string;
}

/**
 * Packs items, best first, into a budget of tokens: one line each, under the day on which it was said, oldest day first.
 * `title` heads the part. Each text is sanitized as in every prompt; duplicates are dropped.
 */
export function packRequest(
  items: readonly Item[],
  { maxTokens, title, promptGuard }: { maxTokens: number; title: string; promptGuard: PromptGuard },
): PackedRequest {
  const lines: Line[] = [];
  const days = new Set<string>();
  const shown = new Set<string>();
  let left = 0;
  // Characters, as four make a token: rounding up each line would waste an eighth of the budget.
  let tokens = weighTokens(`${title}\n`);
  for (const item of items) {
    if (tokens + weighTokens(item.text) > maxTokens) {
      left += 1;
      continue;
    }
    const text = sanitizeForPrompt(item, promptGuard);
    const key = splitWords(text).join(" ");
    if (text === "" || shown.has(key)) continue;
    const day = item.at.slice(0, 10);
    const line = `- ${formatSpeaker(item)}${text}\n`;
    const cost = weighTokens(line) + (days.has(day) ? 0 : weighTokens(`[${day}]\n`));
    if (tokens + cost > maxTokens) {
      left += 1;
      continue;
    }
    shown.add(key);
    days.add(day);
    tokens += cost;
    lines.push({ item, day, text: line });
  }
  return {
    text: lines.length === 0 ? "" : formatLines(title, lines),
    items: lines.map(({ item }) => item),
    left,
  };
}

function formatLines(title: string, lines: readonly Line[]): string {
  const byDay = Map.groupBy(
    lines.toSorted((one, other) => (one.item.at < other.item.at ? -1 : Number(one.item.at > other.item.at))),
    ({ day }) => day,
  );
  const parts = [...byDay].map(([day, own]) => `[${day}]\n${own.map(({ text }) => text).join("")}`);
  return `${title}\n${parts.join("")}`.trimEnd();
}

const formatName = (name: string): string => neutralizeText(name).replace(/\s+/g, " ").trim().slice(0, 60);

/** The owner of what another user shares, or the speaker of a quote unless it is the user alone. */
function formatSpeaker({ type, sources, owner }: Item): string {
  if (owner !== undefined) return `${formatName(owner)}: `;
  const source = type === "passage" ? sources.at(-1) : undefined;
  if (!source) return "";
  if (source.name !== undefined) return `${formatName(source.name)}: `;
  return source.role === "user" ? "" : `${source.role}: `;
}
