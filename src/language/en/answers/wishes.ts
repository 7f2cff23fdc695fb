import type { Memory } from "../../../domain/memory.ts";
import type { Item } from "../../../domain/recall.ts";
import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { toSecondPerson, toSentence } from "../word-forms.ts";
import { isOfKindByAny } from "./evidence/analysis.ts";

interface Said {
  readonly text: string;
  readonly used: readonly string[];
}

/** "Do I want slang?", "should you call me …": how the user wants to be treated. */
const OF_WISHES =
  /\b(?:(?:do|did|would|should) (?:i|we) (?:want|like|wish|prefer|need|ask you|tell you)|(?:language|style|tone|format|units?) (?:do|will|are) you\b|(?:do|would)n['’]?t (?:i|we) want|do (?:i|we) not want|should (?:you|your|it|they)|(?:am i|are we) to be|i['’]?d (?:want|like))\b/i;
const YES_NO =
  /^(?:(?:so|and|but|ok(?:ay)?|well|hey)[, ]+)*(?:do|does|did|would|should|are|am|is|can|may)\b/i;
const DENIED =
  /^(?:does not|do not) want\b|\bassistant (?:not|never) to\b|\bassistant to (?:avoid|stop|skip)\b/i;

/** Words in which wishes are asked for; they tell none from another. */
const ASKING: ReadonlySet<string> = new Set(
  extractTerms(
    "want wanted like wish prefer need should would you your me mine use used using give given write written say said " +
      "answer reply how which what way kind sort type always never please assistant",
  ),
);

function tellingOf(text: string): string[] {
  return [...new Set(splitWords(text))].filter((word) => {
    const [term] = extractTerms(word);
    return term !== undefined && !ASKING.has(term);
  });
}

/**
 * What standing wishes say to a question about them: yes or no, or the wish itself. Undefined where the question asks
 * for none, or none is about it.
 */
export function fromWishes(question: string, wishes: readonly Memory[]): Said | undefined {
  if (!OF_WISHES.test(question)) return undefined;
  const telling = tellingOf(question);
  if (telling.length === 0) return ASKS_FOR_ALL.test(question) ? tellAll(wishes) : undefined;
  const fitting = wishes
    .map((memory) => ({ memory, share: shareIn(telling, memory) }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share || (a.memory.at < b.memory.at ? 1 : -1));
  const [best] = fitting;
  if (!best) return undefined;
  const said = toSentence(toSecondPerson(best.memory.text));
  const used = [best.memory.id];
  if (!YES_NO.test(question)) return { text: said, used };
  if (best.share < 1) return undefined;
  const isDenied = DENIED.test(best.memory.text.replace(/^.*?(?= wants? | does | do )/i, "").trim());
  const low = said.charAt(0).toLowerCase() + said.slice(1);
  return { text: `${isDenied ? "No" : "Yes"}, ${low}`, used };
}

/** "How should you answer me?" */
const ASKS_FOR_ALL =
  /\b(?:how|what)\b.{0,40}\byou\b.{0,40}\b(?:answer|reply|respond|write|do|treat|talk|speak)\b/i;

function tellAll(wishes: readonly Memory[]): Said | undefined {
  const newest = wishes.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, MOST);
  return tell(newest);
}

/** Memories as sentences to the user; undefined for none. */
function tell(memories: readonly Pick<Memory, "id" | "text">[]): Said | undefined {
  if (memories.length === 0) return undefined;
  return {
    text: memories.map(({ text }) => toSentence(toSecondPerson(text))).join(" "),
    used: memories.map(({ id }) => id),
  };
}

/** How many of the telling words the wish holds, themselves or as a word of their kind ("German" for "language"): 0 to 1. */
function shareIn(telling: readonly string[], { text, claim }: Memory): number {
  const words = splitWords(text);
  const held = new Set([...extractTerms(text), ...words.map(stem)]);
  const own = splitWords(claim?.value ?? "");
  const isHeld = (word: string): boolean =>
    held.has(stem(word)) || own.some((other) => isOfKindByAny(other, word));
  return telling.filter(isHeld).length / telling.length;
}

const ADVICE =
  /\b(?:how|where|which|who|when|what)\b[^.?!]{0,30}\b(?:should|shall|would|could) (?:i|we)\b|\b(?:suggest|recommend)\b|\bwhat(?:'s| is) the best\b/i;
const MOST = 3;

/** What the user prefers, to one who asks for advice and whom nothing else answers. */
export function fromPreferences(question: string, items: readonly Item[]): Said | undefined {
  if (!ADVICE.test(question)) return undefined;
  const fitting = items
    .filter(({ type, status, kind }) => type === "memory" && status === "current" && kind === "preference")
    .slice(0, MOST);
  return tell(fitting);
}
