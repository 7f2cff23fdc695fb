import type { TextSpan } from "../../../domain/text/split-text.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import { baseLabel, createTree, subtree } from "../statements/tree.ts";
import { splitSegments } from "../transformer/segments.ts";

/**
 * A place in a sentence with what cannot stand without it: the clause that one of its verbs tells ("Dana told Ricky | I drink"), and what
 * is only added behind it ("Kofi takes Ritalin | so expect some headaches").
 */
export function withDependentClauses(sentence: string, span: TextSpan): TextSpan {
  const end = Math.max(span.end, endOfComplements(sentence, span));
  return { start: span.start, end: endOfAdditions(sentence, { start: span.start, end }) };
}

function endOfComplements(sentence: string, { start, end }: TextSpan): number {
  const isInside = (word: TextSpan): boolean => start <= word.start && word.end <= end;
  return parseEnglish(sentence).reduce((furthest, { tokens }) => {
    const tree = createTree({ tokens }, sentence);
    const told = tokens.flatMap((token, at) => {
      const head = tokens[token.head];
      const isTold = baseLabel(token.label) === "ccomp" && token.start >= end && head && isInside(head);
      return isTold ? subtree(tree, at).map((index) => tokens[index]?.end ?? 0) : [];
    });
    return Math.max(furthest, ...told);
  }, end);
}

/** The clauses that only add something, directly behind the place. */
function endOfAdditions(sentence: string, { end }: TextSpan): number {
  let furthest = end;
  for (const segment of splitSegments(sentence)) {
    if (segment.start < furthest) continue;
    const between = sentence.slice(furthest, segment.start);
    if (!segment.isAttached || /[\p{L}\p{N}]{5}/u.test(between)) break;
    furthest = segment.end;
  }
  return furthest;
}
