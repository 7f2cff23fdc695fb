/** What people say between the wrong word and the right one. */
const BETWEEN =
  "(?:no,? wait|wait,? no|no,? sorry|sorry,? no|sorry|sorry,? i mean(?:t)?|no,? i mean(?:t)?|i mean(?:t)?|or rather|make that|scratch that|wait|er+m?|uh+|oops|actually|well actually|well|no)";
/** One word or a short name or figure: the wrong one and the right one are of a kind. */
const WORD = "[\\p{L}\\p{N}£$€%.:'’-]*[\\p{L}\\p{N}%]";
const SLIP = new RegExp(
  `(?<wrong>${WORD}(?: (?:am|pm|years?|kg|km|miles?|weeks?|months?|days?|hours?|minutes?|euros?|pounds?))?)\\s*[,.…–—-]+\\s*${BETWEEN}[,.…–— -]+(?<right>${WORD})`,
  "giu",
);
const NUMBER =
  /^(?:[£$€]?\d[\d.,:]*\p{L}{0,2}%?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|first|second|third|fourth|fifth|noon|midnight)\b/iu;
const DAY =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|today|tonight|tomorrow)$/i;
const NAME = /^\p{Lu}\p{L}+/u;

/** "two, no wait, three cats" -> "three cats": the sentence as it was meant; undefined where nobody slipped. */
export function withoutSlip(text: string): string | undefined {
  // "not Monday, I meant Tuesday" puts right what was said before.
  if (/\bnot\b/i.test(text)) return undefined;
  const meant = text.replace(SLIP, (whole: string, ...rest: unknown[]) => {
    const { wrong, right } = rest.at(-1) as { wrong: string; right: string };
    return isOfKind(wrong, right) ? right : whole;
  });
  return meant === text ? undefined : meant;
}

function isOfKind(wrong: string, right: string): boolean {
  const kinds = [NUMBER, DAY, NAME];
  const kind = kinds.find((one) => one.test(wrong));
  return kind?.test(right) === true && wrong.toLowerCase() !== right.toLowerCase();
}
