import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type Context, tidy } from "../context.ts";
import { canChange, replaced, sameKind } from "../corrections/replacements.ts";
import { type Held, held } from "../forgetting/targets.ts";

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|update|news|gained a bit|lost a bit|actually|btw)[,:.! –—-]+)*";
const WE =
  "(?:(?:i|we|they|he|she|my [\\p{L}]+|the [\\p{L}]+)(?:['’]?ve|['’]?s|['’]?m|['’]?re| have| has| am| is| are| had to)? )?(?:(?:just|finally|now|recently|only|also) )*";
const VALUE =
  "(?<value>(?:about |around |over |nearly |almost )?(?:[£$€]?\\d[^,;!?]{0,30}?|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty)\\b[^,;!?]{0,24}?))";
const CLOSES =
  "(?:,? (?:now|these days|already|nowadays|from now on|at the moment|this (?:morning|week|month|year)|yesterday|today|since .{2,30}|as of .{2,30}))?(?=$|[,;!]|\\.(?!\\d))";

/** How people say that a number of theirs has changed, without saying of what: `value` is the new one. */
export const COUNTS: readonly RegExp[] = [
  `${WE}(?:upped|raised|increased|bumped|cut|reduced|lowered|dropped|brought|got|took|pushed|scaled|changed|put|halved|doubled) (?:it|that|them|those|this)(?: up| down| back)? (?:to|at) ${VALUE}`,
  `(?:i['’]?m|we['’]?re|i am|we are|it['’]?s|it is|that['’]?s)(?: now)? (?:now )?(?:at|up to|down to|back to|up at|down at|over) ${VALUE}`,
].map((row) => new RegExp(`^${OPENS}${row}${CLOSES}`, "iu"));

const OFTEN =
  /\b(?:(?:once|twice|thrice|(?:\d+|two|three|four|five|six|seven|a few|several|a couple of) times|\d+x) (?:a|an|per|every|each) (?:day|week|month|year|night|hour|fortnight|weekend)|every (?:other |second |third |single |\d+ )?(?:day|week|month|year|night|morning|evening|weekend|hour|\w+day)s?|daily|weekly|monthly|fortnightly|yearly)\b/i;
/** "just once a day now", "it's every other week now" */
const OFTEN_NOW = new RegExp(
  `^${OPENS}(?:(?:just|only|it['’]?s|now|down to|up to|i['’]?m down to|back to|more like|rather|i do it|i do that|we do it) )*(?<value>${OFTEN.source})(?:,? (?:now|these days|nowadays|from now on|at the moment|instead))$`,
  "iu",
);

/** "I've upped it to 40 pages", "I'm at 74 kilos now", "just once a day now": in the place of the number that was told. */
export function counted(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  for (const pattern of COUNTS) {
    const value = tidy(pattern.exec(text)?.groups?.value ?? "");
    const found = value === "" ? undefined : sameKind(context, value, canChange(context, value));
    if (found) return [replaced(context, place, found)];
  }
  const often = OFTEN_NOW.exec(text)?.groups?.value;
  const one = often === undefined ? undefined : lastOften(context);
  if (often === undefined || !one) return undefined;
  return [replaced(context, place, { held: one.held, old: one.old, fresh: often })];
}

const NTH =
  "(?<nth>second|third|fourth|fifth|sixth|seventh)(?: (?:kid|child|baby|son|daughter|boy|girl|one))?";
const BORN = new RegExp(
  `\\b(?:my|our) ${NTH}(?: was| is|['’]s| has been| got| has)? (?:just |finally )?(?:born|arrived|come|came|here)\\b`,
  "i",
);
const HAD = new RegExp(`\\b(?:had|welcomed) (?:my|our) ${NTH}\\b`, "i");
const NUMBERS = ["one", "two", "three", "four", "five", "six", "seven"];
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

/** "Our third was born yesterday!": one more of the children that were counted. */
export function born(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const nth = (BORN.exec(text) ?? HAD.exec(text))?.groups?.nth?.toLowerCase();
  const count = nth === undefined ? -1 : ORDINALS.indexOf(nth);
  if (count < 0) return undefined;
  const { speaker } = context.discourse;
  const found = held(context).findLast(
    ({ claim }) =>
      claim.subject === speaker.path &&
      claim.relation === "have" &&
      /^(?:\d+|an?|one|two|three|four|five|six) (?:kids?|child(?:ren)?|sons?|daughters?|boys?|girls?)$/i.test(
        claim.value,
      ),
  );
  if (!found) return undefined;
  const [number = "", noun = ""] = found.claim.value.split(" ");
  const word = /^\d/.test(number) ? String(count + 1) : (NUMBERS[count] ?? "");
  const plural = noun === "child" ? "children" : /s$|children$/.test(noun) ? noun : `${noun}s`;
  return [replaced(context, place, { held: found, old: found.claim.value, fresh: `${word} ${plural}` })];
}

/** The newest claim that tells how often. */
function lastOften(context: Context): { held: Held; old: string } | undefined {
  const found = held(context).flatMap((one) => {
    const old = OFTEN.exec(`${one.claim.value} ${one.claim.qualifier ?? ""}`)?.[0];
    return old === undefined || one.memory === undefined || one.memory.kind === "event"
      ? []
      : [{ held: one, old }];
  });
  return found.at(-1);
}
