/**
 * Short ways to say that one thing took the place of another, and the plain sentence that they stand for. `$<old>` and
 * `$<new>` are what goes and what comes. Add a row to add a way to say it.
 */
const THING = (name: string): string =>
  `(?<${name}>(?!(?:i|we|they|you|he|she)(?:['’]|\\b))[^,.;!?:]{2,40}?)`;
const OPENS = "(?:(?:so|and|but|well|ok(?:ay)?|oh|right|update|finally|now)[, :!]+)*";

export const REWORDINGS: readonly (readonly [RegExp, string])[] = (
  [
    [
      `${THING("old")}(?:['’]s| is| are) out[,;]?(?: and| but)? ${THING("new")}(?:['’]s| is| are) in`,
      "I switched from $<old> to $<new>",
    ],
    [
      `out with (?:the )?${THING("old")}[,;]?(?: and)? in with (?:the )?${THING("new")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `(?:good)?bye(?:[ -]bye)? ${THING("old")}[,;]?(?: and)? (?:hello|hi|welcome) ${THING("new")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `(?:hello|hi|welcome) ${THING("new")}[,;]?(?: and)? (?:good)?bye(?:[ -]bye)? ${THING("old")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `no more ${THING("old")}(?: for (?:me|us))?[,;:–-]+ ?(?:it['’]?s |just |only |i['’]?m on |we['’]?re on )?${THING("new")} (?:now|from now on|these days|instead)`,
      "I switched from $<old> to $<new>",
    ],
    [`it(?:['’]s| is) ${THING("new")} now,? not ${THING("old")}`, "I switched from $<old> to $<new>"],
    [
      `${THING("old")} (?:has been|was|got|['’]s been) (?:replaced|swapped|traded|exchanged) (?:by|with|for) ${THING("new")}`,
      "I replaced $<old> with $<new>",
    ],
    [
      `${THING("new")} (?:has )?(?:replaced|took the place of|has taken the place of) ${THING("old")}`,
      "I replaced $<old> with $<new>",
    ],
    [
      `(?:they|(?:my|the|our) \\p{L}+|\\p{Lu}\\p{L}+|work)(?:['’]?ve|['’]?s| have| has)? (?:just |finally )?(?:moved|switched|changed|put|transferred|upgraded|downgraded|bumped|shifted) (?:me|us) (?:up |down |over |across )?(?:to|onto|on) ${THING("new")}(?: now)?(?:,.*)?`,
      "I switched to $<new>",
    ],
    [
      `(?<head>.{3,60}?) one of (?:them|these|those|my \\p{L}+|the \\p{L}+|our \\p{L}+)(?<particle> (?:up|away|off|in|out))?[,:;–-]+ ?(?:the )?${THING("new")}`,
      "$<head> the $<new>$<particle>",
    ],
  ] as const
).map(([row, plain]) => [new RegExp(`^${OPENS}${row}$`, "iu"), plain] as const);

/** "Excel is out, Numbers is in" -> "I switched from Excel to Numbers". */
export function reworded(text: string): string | undefined {
  for (const [pattern, plain] of REWORDINGS) {
    if (pattern.test(text)) return text.replace(pattern, plain);
  }
  return undefined;
}
