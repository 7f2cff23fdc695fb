import type {
  DatedQuote,
  ExplainedAnswer,
  MemoryGround,
  Omission,
} from "../../../ports/language/reply-writer.ts";
import { formatDateInWords } from "../format-date.ts";
import { capitalize } from "../word-forms.ts";

const MAX_QUOTED = 4;

/** Explains in English what the last answer is based on: "Because on 2 May 2026 you said: …". */
export function explainAnswer(last?: ExplainedAnswer): string {
  if (!last) return "I have not answered anything from memory yet.";
  const { used, grounds, erased } = last;
  if (used === 0) return "I did not know: nothing you told me answers it.";
  const gone = erased > 0 ? "Its sources have been erased since." : "";
  const reasons = [...new Set(grounds.map(formatGround))];
  if (reasons.length === 0) return gone || "I can no longer tell what it was based on.";
  const [first = "", ...rest] = reasons.slice(0, MAX_QUOTED);
  const explanation = rest.length === 0 ? `Because ${first}` : `Because ${first} And ${rest.join(" And ")}`;
  return [explanation, gone].filter(Boolean).join(" ");
}

/** Explains in English what a memory is based on, and that it is outdated, if it is. */
export function explainMemory(
  grounds: readonly MemoryGround[],
  outdated?: { readonly why?: string | undefined },
): string {
  const over = outdated ? ` It is outdated${outdated.why ? `: ${outdated.why}` : ""}.` : "";
  return `${grounds.map((ground) => capitalize(formatGround(ground))).join(" ")}${over}`;
}

/** Explains in English why the last answer did not mention something. */
export function explainOmission(ground: MemoryGround | undefined, omission?: Omission): string {
  if (!ground) return "I know nothing about that.";
  const known = capitalize(formatGround(ground));
  if (!omission) return known;
  const { reason, text, endedBy } = omission;
  if (reason === "used") return `I did: my answer is based on it. ${known}`;
  const end = endedBy ? `I left it out because it is outdated: ${formatQuote(endedBy)}` : "";
  const why = end || (reason === "below_floor" ? "It did not seem relevant to your question." : text);
  return `${known} ${why}`;
}

function formatGround(ground: MemoryGround): string {
  return "quote" in ground
    ? formatQuote(ground)
    : `it was added to my memory on ${formatDay(ground.addedAt)}.`;
}

function formatQuote({ at, name, quote }: DatedQuote): string {
  return `on ${formatDay(at)} ${name ?? "you"} said: “${toOneLine(quote)}”.`;
}

function toOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

function formatDay(iso: string): string {
  return formatDateInWords(iso.slice(0, 10), { weekday: false });
}
