import { AUXILIARIES, SAYING } from "../words/lexicon.ts";
import type { Stretch, Token } from "../words/token.ts";

const YOU: ReadonlySet<string> = new Set(["you", "u", "ya", "yourself", "yours", "your", "ur"]);
const ASKING: ReadonlySet<string> = new Set([
  "what",
  "how",
  "who",
  "which",
  "where",
  "when",
  "why",
  "whats",
  "what's",
  "hows",
]);

/**
 * "I have a turtle, what pets do you have?": cuts before the question to whoever listens, so that what comes before it
 * stands as a statement. Gives the stretch as it is where there is nothing to cut.
 */
export function withoutTag(tokens: readonly Token[], [from, to]: Stretch): readonly Stretch[] {
  const at = questionStart(tokens, from, to, tokens[to - 1]?.after.includes("?") ?? false);
  return at === undefined
    ? [[from, to]]
    : [
        [from, at],
        [at, to],
      ];
}

function questionStart(
  tokens: readonly Token[],
  from: number,
  to: number,
  isMarked: boolean,
): number | undefined {
  for (let at = from + 2; at < to; at += 1) {
    if (!(isMarked ? opensQuestion(tokens, at, to) : isInverted(tokens, at))) continue;
    const begin = overJoints(tokens, at, from);
    if (tells(tokens, from, begin)) return begin;
  }
  return undefined;
}

/** "do you", "how about you", without a mark: in that order it asks all the same. */
function isInverted(tokens: readonly Token[], at: number): boolean {
  const { lower = "" } = tokens[at] ?? {};
  const next = tokens[at + 1]?.lower ?? "";
  if (/^(?:what|how)$/.test(lower) && next === "about") return YOU.has(tokens[at + 2]?.lower ?? "");
  const before = tokens[at - 1]?.lower ?? "";
  return (
    /^(?:do|are|did|have)$/.test(lower) &&
    YOU.has(next) &&
    !ASKING.has(before) &&
    !/^(?:so|as|nor|than|like)$/.test(before)
  );
}

/** "do you", "what … you", "you?" */
function opensQuestion(tokens: readonly Token[], at: number, to: number): boolean {
  const { lower = "" } = tokens[at] ?? {};
  const next = tokens[at + 1]?.lower ?? "";
  if (YOU.has(lower)) return at === to - 1;
  if (AUXILIARIES.has(lower) && YOU.has(next)) return !ASKING.has(tokens[at - 1]?.lower ?? "");
  if (!ASKING.has(lower) || isContent(tokens, at)) return false;
  return tokens.slice(at + 1, Math.min(to, at + 6)).some((token) => YOU.has(token.lower));
}

/** "I know what you like": said or known, not asked. */
function isContent(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before?.after.trim() !== "") return false;
  return before.class === "verb" || SAYING.has(before.lower);
}

function overJoints(tokens: readonly Token[], at: number, from: number): number {
  let begin = at;
  while (begin > from && ["and", "but", "so", "or"].includes(tokens[begin - 1]?.lower ?? "")) begin -= 1;
  return begin;
}

/** Whether somebody's own statement stands there: a subject of the first person and a verb behind it. */
function tells(tokens: readonly Token[], from: number, to: number): boolean {
  const own = tokens.findIndex(
    ({ lower }, i) => i >= from && i < to && ["i", "we", "my", "our", "mine"].includes(lower),
  );
  const before = tokens[own - 1];
  if (own < 0 || (before && AUXILIARIES.has(before.lower) && before.contracted === undefined)) return false;
  return tokens.slice(own, to).some(({ class: kind }) => kind === "verb");
}
