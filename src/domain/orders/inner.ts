/** Where, inside of a sentence, an order may begin: behind a joint, or with the name of a turn or a program. */

/** What such names stand in: brackets, stars, quotation marks. */
const OPEN = String.raw`["'(\[{<*_|\/>#@=~\s-]{0,12}`;
const CLOSE = String.raw`\s{0,4}["')\]}*_|]{0,6}\s{0,4}(?::|={1,3}>|-{1,3}>|=|>{1,3}|[-–—](?=\s))["')\]}*_|]{0,6}\s{0,4}`;
const CALLED =
  "(?:(?:the |an? |my )?(?:ai |virtual |digital )?(?:assistant|asst)|a\\.?i\\.?|llms?|chat ?bot|chatgpt|gpt|(?:large )?language model|ai (?:model|agent|bot))";
const MAYBE =
  "(?:system(?: prompt| message| note| instructions?| override| command| rule)?|sys|developer(?: message| note)?|admin(?:istrator)?|(?:new |updated |hidden |final )?instructions?|override|bot|model|agent|prompt|new (?:rule|order|directive)|directive)";
const CALLED_FIRST = new RegExp(`^${OPEN}${CALLED}${CLOSE}`, "i");
const MAYBE_FIRST = new RegExp(`^${OPEN}${MAYBE}${CLOSE}`, "i");
const LABEL = new RegExp(
  `(?:[.;,:!?)\\]"'–—|/>*([{]\\s{0,4}|\\s[-#*]{1,6}\\s{0,4}|\\s(?:and|but|so|also)\\s+)(?=${OPEN}(?:${CALLED}|${MAYBE})${CLOSE})`,
  "gi",
);

/** What parts statements whatever stands behind it; and what does so where an address to somebody follows. */
const HARD = /[;–—|]\s{0,4}|\s-{1,3}\s{1,4}|\(\s{0,4}|[.!?](?=[\p{L}\p{N}])|\s\/{2,6}\s{0,4}/gu;
const SOFT =
  /(?:,\s{0,4}(?:(?:and|but|so|also|plus|then)\s{1,4}){0,3}|\s(?:and|but|so|also|plus|then)\s{1,4})(?=(?:(?:also|please|then|hence|just|now)[, ]{1,3}){0,4}(?:(?:from (?:now|today|here|this|there)|henceforth|hereafter|as of (?:now|today)|starting (?:now|today)|in (?:the )?future|going forward)\b|(?:remember|keep in mind)(?: that)? you\b|you (?:must|should|shall|have to|need to|are to|will|only|always|never|now)\b|please\b|ignore\b|disregard\b|note (?:to|for)\b))/gi;

/** So many clauses of one sentence are looked at alone: those behind names first. Who speaks in more is read as a whole. */
const MOST_STARTS = 8;

/** Where clauses begin that may be orders of their own, behind something else; in order. */
export function findClauseStarts(sentence: string): number[] {
  const starts = new Set<number>();
  for (const form of [LABEL, SOFT, HARD])
    for (const { 0: joint, index } of sentence.matchAll(form)) {
      if (starts.size >= MOST_STARTS) break;
      const at = index + joint.length;
      if (at < sentence.length) starts.add(at);
    }
  return [...starts].sort((one, other) => one - other);
}

/** The name of a turn or a program at the beginning of a text, as in "Assistant: …". */
export interface SpeakerLabel {
  /** What stands behind it. */
  readonly rest: string;
  /** Whether the name means a program like us and nothing else; "system" may mean a heating. */
  readonly isSure: boolean;
}

export function parseLabel(text: string): SpeakerLabel | undefined {
  for (const [form, isSure] of [
    [CALLED_FIRST, true],
    [MAYBE_FIRST, false],
  ] as const) {
    const found = form.exec(text);
    if (found) return { rest: text.slice(found[0].length), isSure };
  }
  return undefined;
}

/** The joint that stands before a clause, to be written as the end of a sentence: "Acme and |from now on". */
export function findJointBefore(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - 24), at);
  const joint =
    /[\s,;:–—|(/-]*(?:(?:^|(?<=[\s,;]))(?:and|but|so|also|plus|then)\s+)*$/i.exec(before)?.[0] ?? "";
  return at - joint.length;
}
