import type { Proposal } from "../../../../ports/language/extractor.ts";
import { lastBreath } from "../claims/told.ts";
import { adding, type Context, ending, tidy } from "../context.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { onlyMember } from "./members.ts";

const NOW =
  "(?:now|now adays|nowadays|these days|left|any ?more|from now on|for now|currently|at the moment)";
const OPENER =
  "(?:(?:so|and|but|well|now|ok|oh|it['’]?s|it is|i['’]?m|we['’]?re|i am|we are|down to|back to|these days|nowadays|at the moment) ?[, ]*)*";
const ENDED =
  "(?:stopped|quit|dropped|cancelled|canceled|sold|(?:got|gotten) rid of|gave up|given up|deleted|ditched|binned|closed|gave away|given away|finished|chucked|donated|lost|cut out|uninstalled|let go of|returned|left|came off|packed in|gone off)";
const ALL =
  "(?:everything|all of (?:them|it|these|those)|the lot|them all|it all|all|all the others|the rest)";
const BUT = "(?:except|but|apart from|bar|other than|aside from|besides|save)(?: for)?";

/** What says that of several things one stays: `kept` is what stays. Add a row to add a way to say it. */
export const KEEPS: readonly RegExp[] = [
  // "just the canoe now", "down to one language, Dutch" stays with the numbers
  new RegExp(`^${OPENER}(?:just|only|nothing but|solely) (?<kept>[^,.;]{2,50}?),? ${NOW}$`, "i"),
  // "I only play padel now"; "these days I just eat fish"
  new RegExp(
    `^${OPENER}(?:i|we) (?:only|just) (?<verb>[a-z]+)(?<joint> (?:on|in|at|to|with|for))? (?<kept>[^,.;]{2,50}?),? ${NOW}$`,
    "i",
  ),
  /^(?:these days|nowadays|now|at the moment|lately),? (?:i|we) (?:only|just) (?<verb>[a-z]+)(?<joint> (?:on|in|at|to|with|for))? (?<kept>[^,.;]{2,50})$/i,
  // "all I drink now is water", "the only one I kept is the Martin"
  new RegExp(
    `^(?:(?:so|and|but|well|now) )*all (?:i|we) (?<verb>[a-z]+)(?: (?:to|on|in|at|with))?(?: ${NOW})? (?:is|are) (?<kept>[^,.;]{2,50}?)(?:,? ${NOW})?$`,
    "i",
  ),
  new RegExp(
    `^the only (?:ones?|thing|things) (?:(?:that )?(?:i|we)(?:['’]ve| have|['’]m|['’]re)? [a-z ]{2,30}|left|remaining) (?:is|are) (?<kept>[^,.;]{2,50}?)(?:,? ${NOW})?$`,
    "i",
  ),
  new RegExp(
    `^(?<kept>[^,.;]{2,50}?)(?: is|['’]s| are) the only (?:ones?|thing|things) (?:(?:i|we)(?:['’]ve| have|['’]m|['’]re)? [a-z ]{2,30}|left|remaining)(?: ${NOW})?$`,
    "i",
  ),
  // "stopped everything except iron", "sold all but the Martin"
  new RegExp(
    `^(?:(?:i|we)(?:['’]ve| have)? )?(?:(?:now|finally|just|basically|recently) )*${ENDED} ${ALL},? ${BUT} (?<kept>[^,.;]{2,50})$`,
    "i",
  ),
  // "kept the iron, dropped the rest"
  new RegExp(
    `^(?:(?:i|we)(?:['’]ve| have)? )?(?:only )?(?:kept|keeping|kept on with) (?:only |just )?(?<kept>[^,.;]{2,50}?),?(?: and| but)? ${ENDED} (?:the (?:rest|others?)|everything else|all the others)$`,
    "i",
  ),
  new RegExp(
    `^(?:(?:i|we)(?:['’]ve| have)? )?${ENDED} (?:the (?:rest|others?)|everything else|all the others),?(?: and| but)? (?:only )?(?:kept|keeping) (?:only |just )?(?<kept>[^,.;]{2,50})$`,
    "i",
  ),
];

/** Verbs of which "only" says something about all that one does with them, whether it was told in one breath or not. */
const WHOLE =
  /^(?:eat|drink|play|read|watch|speak|learn|wear|drive|ride|take|smoke|teach|follow|support|grow|train)\b/;

/** "I only play padel now", "just the canoe now": what was named beside it is over. */
export function readNarrowing(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  for (const pattern of KEEPS) {
    const found = pattern.exec(text)?.groups;
    const kept = tidy(found?.kept ?? "");
    if (kept === "" || isMeasure(kept)) continue;
    const proposals = keeping(context, place, kept.split(/,? and |, /), found?.verb?.toLowerCase());
    if (proposals) return proposals;
  }
  return undefined;
}

/** "just two now" counts; "only at weekends" is a circumstance. */
function isMeasure(kept: string): boolean {
  return /^(?:\d|one\b|two\b|three\b|at |on |in |for |when |a (?:bit|little)|once|twice|every)/i.test(kept);
}

function keeping(
  context: Context,
  place: { readonly start: number; readonly end: number },
  kept: readonly string[],
  verb: string | undefined,
): Proposal[] | undefined {
  const staying = kept.flatMap((named) => meant(context, { named, isNoName: true }).slice(0, 1));
  const breath = lastBreath(context, place.start);
  const [pattern] =
    staying.length > 0 ? staying : breath.filter(({ claim }) => fitsVerb(claim.relation, verb));
  if (!pattern) return undefined;
  const over = held(context).filter(
    (one) => isBeside(one, pattern) && !staying.includes(one) && !isNamed(one, kept),
  );
  const target = targetOf(over);
  if (!target) return narrowedList(context, place, staying, kept);
  const said = kept.map((value) => {
    const own = staying.find(({ claim }) =>
      telling(claim.value).some((word) => telling(value).includes(word)),
    );
    const { claim, memory } = own ?? pattern;
    const text = own ? memory?.text : (memory?.text ?? "").replace(claim.value, value);
    return adding(context, place, {
      text: text ?? "",
      claim: own ? claim : { ...claim, value },
      ...(memory ? { kind: memory.kind } : {}),
      holds: "many",
    });
  });
  return [ending(context, place, target), ...said.filter(({ text: told }) => told !== "")];
}

/** "season tickets for Ajax and the opera": of one memory that lists them. */
function narrowedList(
  context: Context,
  place: { readonly start: number; readonly end: number },
  [one, more]: readonly Held[],
  [kept, other]: readonly string[],
): Proposal[] | undefined {
  const left = one && !more && kept !== undefined && other === undefined ? onlyMember(one, kept) : undefined;
  const target = one && targetOf([one]);
  return left && target && one.memory
    ? [ending(context, place, target), adding(context, place, { ...left, kind: one.memory.kind })]
    : undefined;
}

function fitsVerb(relation: string, verb: string | undefined): boolean {
  return verb === undefined || relation.split(" ")[0] === verb;
}

function isNamed({ claim }: Held, kept: readonly string[]): boolean {
  const words = telling(claim.value);
  return kept.some((one) => telling(one).every((word) => words.includes(word)));
}

/** Of one list: told in one breath, under one circumstance, or of a doing that "only" speaks of as a whole. */
function isBeside(one: Held, other: Held): boolean {
  const { claim, memory } = one;
  if (one === other || memory?.kind === "event") return false;
  if (claim.subject !== other.claim.subject || claim.relation !== other.claim.relation) return false;
  const isOneBreath =
    memory === undefined || memory.sources[0]?.message === other.memory?.sources[0]?.message;
  const isOneUse = (claim.qualifier ?? "") !== "" && claim.qualifier === other.claim.qualifier;
  return isOneBreath || isOneUse || WHOLE.test(claim.relation);
}
