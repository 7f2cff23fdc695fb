import type { Stretch, Token } from "./token.ts";
import type { Verb } from "./verbs.ts";

/** What one is or has all the time: behind "I like to …" it stands for itself. */
const STANDS = new Set("live work have own be use belong speak know need want love like hate".split(" "));
const TASTES = new Set(["like", "love", "enjoy", "hate", "prefer", "try", "tend"]);

/**
 * "I want to move and OPEN a café", "I can juggle and WHISTLE": a bare verb that "and" joins shares what stands before the
 * first one. Gives the verb as it is where it stands for itself.
 */
export function shared(
  tokens: readonly Token[],
  verb: Verb,
  last: { readonly verb: Verb; readonly subject?: Stretch } | undefined,
): Verb {
  if (last && isSharedPassive(tokens, verb, last.verb))
    return { ...verb, passive: true, tense: last.verb.tense };
  if (!last || !isBare(verb) || !isJoined(tokens, verb.from)) return verb;
  const link = last.verb.chain.findLastIndex(({ next }) => next === "to");
  if (link >= 0) {
    const chain = last.verb.chain.slice(0, link + 1);
    const isTaste = TASTES.has(chain[link]?.verb ?? "");
    if (isTaste && STANDS.has(verb.lemma)) return verb;
    const { denied } = last.verb;
    const { tense, perfect, progressive, open } = last.verb;
    const gerunds = last.verb.gerunds;
    return {
      ...verb,
      chain,
      tense,
      perfect,
      progressive,
      open,
      gerunds,
      ...colour(last.verb),
      ...(denied ? { denied } : {}),
    };
  }
  if (last.verb.modal === undefined) return verb;
  const isOr = tokens[verb.from - 1]?.lower === "or";
  const denied = isOr && last.verb.denied ? { denied: last.verb.denied } : {};
  return { ...verb, tense: last.verb.tense, open: last.verb.open, ...colour(last.verb), ...denied };
}

function isBare({ form, tense, chain, modal, denied }: Verb): boolean {
  const isPlain = form === "base" && tense === "present";
  return isPlain && chain.length === 0 && modal === undefined && denied === undefined;
}

/** "born in Texas but RAISED in Maine": done to somebody, as what was said before. */
function isSharedPassive(tokens: readonly Token[], verb: Verb, last: Verb): boolean {
  const isDone = verb.form === "participle" && verb.tense === "past" && verb.chain.length === 0;
  const isJoint = /^(?:and|but|or|then)$/.test(tokens[verb.from - 1]?.lower ?? "");
  const wasDone = last.passive || (last.copula && tokens[last.to]?.lower === "born");
  return isDone && isJoint && wasDone && tokens[verb.to]?.class === "preposition";
}

function colour({ modal }: Verb): { modal?: string } {
  return modal === undefined ? {} : { modal };
}

/** Behind "and", "or" or a comma, adverbs between. */
function isJoined(tokens: readonly Token[], at: number): boolean {
  let i = at - 1;
  while (tokens[i]?.class === "adverb") i -= 1;
  const before = tokens[i];
  return before !== undefined && (/^(?:and|or|&|then)$/.test(before.lower) || /^,\s*$/.test(before.after));
}
