import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { conjugate } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { lastBreath, lastTold } from "../claims/told.ts";
import { isHuman } from "../clauses/entities.ts";
import type { Entity } from "../clauses/entity.ts";
import { readList, readNounPhrase } from "../clauses/noun-phrases.ts";
import { adding, type Context, claimOf, ending, tidy } from "../context.ts";
import { canChange, replaced, sameKind } from "../corrections/replacements.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { isTime } from "../time/times.ts";
import type { Token } from "../words/token.ts";
import { replyTo } from "./asked.ts";
import { dated } from "./dated.ts";
import type { Fragment } from "./fragment.ts";
import { labelled } from "./labels.ts";

/** What a sentence without a verb tells: "Dana here", "And Magnet too.", "dentist in two weeks", "Porto." */
export function fragmentClaims(
  context: Context,
  tokens: readonly Token[],
  text: string,
  place: { start: number; end: number },
): Proposal[] {
  if (/\?["”')\]]*\s*$/.test(text) || tokens.length > 14) return [];
  const fragment: Fragment = { context, tokens, text: bared(text), place };
  for (const read of [
    onlyThat,
    introduced,
    endedBefore,
    replyTo,
    labelled,
    revised,
    changedWord,
    added,
    dated,
  ]) {
    const proposals = read(fragment);
    if (proposals) return proposals;
  }
  return [];
}

/** One line without marks at its ends; "too" and "anymore" stay, for here they tell. */
export function bared(text: string): string {
  return text.replace(/\s+/g, " ").replace(/^[\s,;:"“”'(]+|[\s,;:!.?"“”)]+$/g, "");
}

const HERE =
  /^(?:(?:hi|hello|hey|hiya|heya|morning|evening|afternoon|good (?:morning|evening|afternoon)|it['’]?s|this is)(?: there| all| everyone)?[,!. ]+)*(?<name>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?) here\b/u;

const GREETING =
  /^(?:it|this|that|you|hi|hello|hey|morning|evening|back|not|over|out|in|right|all|everyone|always|still|just|now|same|almost|nearly|only|already|finally|anyone|someone|nobody|lots|more|new|great|glad|happy|welcome|here|there|sitting|standing|waiting|nothing|something)$/i;

/** "hi, Dana here" */
function introduced({ context, text, place }: Fragment): AddProposal[] | undefined {
  const name = HERE.exec(text)?.groups?.name;
  if (name === undefined || GREETING.test(name)) return undefined;
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is called", name),
      claim: claimOf(speaker.path, "be called", name),
      importance: 0.8,
    }),
  ];
}

/** "window seats only for me": what one wants and nothing else. */
export function onlyThat({ context, text, place }: Fragment): AddProposal[] | undefined {
  const what =
    /^(?:only )?(?<what>[\p{L} '’-]{3,40}?) only for me(?:,? (?:please|thanks|thank you))?$|^only (?<only>[\p{L} '’-]{3,40}?) for me(?:,? (?:please|thanks|thank you))?$/iu.exec(
      text,
    )?.groups;
  const value = what?.what ?? what?.only;
  if (value === undefined || /\b(?:not|if|the|my|was|is|if)\b/i.test(value)) return undefined;
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "prefers", value, "only"),
      claim: claimOf(speaker.path, "prefer", value, "only"),
    }),
  ];
}

const NOT_NOW =
  /^(?:(?:well|actually|but|oh|hm+|sadly|no|nope)[,. ]+)*not (?:any ?more|any longer|now|these days)$/i;

/** "Not anymore.": what was said last is over. */
function endedBefore({ context, text, place }: Fragment): Proposal[] | undefined {
  if (!NOT_NOW.test(text)) return undefined;
  const last = lastBreath(context, place.start);
  const target = last.length <= 3 ? targetOf(last) : undefined;
  return target ? [ending(context, place, target)] : undefined;
}

const ADDED =
  /^(?:(?:and|oh|also|plus|then|as well as)[, ]+)+(?<also>.+?)(?:,? (?:too|as well|also))?$|^(?<too>.+?),? (?:too|as well)$|^(?:(?:and|the) )*same (?:for|with|goes for) (?<same>.+)$/i;

/** "And Magnet too.": the same of another thing; "my sister too": the same of another person. */
function added(fragment: Fragment): AddProposal[] | undefined {
  const { context, tokens, text, place } = fragment;
  const found = ADDED.exec(text)?.groups;
  const words = found?.also ?? found?.too ?? found?.same;
  const [last] = lastTold(context, place.start).slice(-1);
  if (words === undefined || !last || /^(?:me|so|that|then|now|it|this|you)\b/i.test(words)) return undefined;
  const start = tokens.findIndex((token) => words.startsWith(context.content.slice(token.start, token.end)));
  const list = start < 0 ? undefined : readList(tokens, start, tokens.length);
  if (!list || isTime(tokens, start, list.to)) return undefined;
  const person = context.discourse.resolve(tokens, start, list.to);
  if (person?.animate && person.path !== context.discourse.speaker.path && isPerson(person))
    return [sameOf(fragment, last, person)];
  const tail = ownTail(fragment, list.to, words);
  return list.items.map((item) => {
    const value = tidy(context.content.slice(tokens[item[0]]?.start, tokens[item[1] - 1]?.end));
    const claim = tail === "" ? { ...last.claim, value } : { ...last.claim, value, qualifier: tail };
    return adding(context, place, {
      text:
        tail === ""
          ? withValue(last, value)
          : withValue({ claim: { ...last.claim, qualifier: tail } }, value),
      claim,
      ...(last.memory ? { kind: last.memory.kind } : {}),
      holds: "many",
      confidence: 0.8,
    });
  });
}

/** "and a statin AT NIGHT": a circumstance of its own, in the place of the one told before. */
function ownTail({ context, tokens }: Fragment, to: number, words: string): string {
  const first = tokens[to];
  const start = tokens.find((token) =>
    words.startsWith(context.content.slice(token.start, token.end)),
  )?.start;
  if (first?.class !== "preposition" || start === undefined) return "";
  return tidy(context.content.slice(first.start, start + words.length));
}

function isPerson(entity: Entity): boolean {
  return entity.path.includes("/") && isHuman(entity);
}

function sameOf({ context, place }: Fragment, { claim }: Held, person: Entity): AddProposal {
  return adding(context, place, {
    text: compose(person.display, conjugate(claim.relation, "third"), claim.value, claim.qualifier ?? ""),
    claim: { ...claim, subject: person.path },
    confidence: 0.8,
  });
}

function withValue({ memory, claim }: Held, value: string): string {
  const told = memory?.text ?? "";
  if (claim.value !== "" && told.includes(claim.value)) return told.replace(claim.value, value);
  return compose(
    claim.subject === "user" ? "The user" : claim.subject,
    conjugate(claim.relation, "third"),
    value,
    claim.qualifier ?? "",
  );
}

/** "third year of my nursing degree now", after "the second year": the same with one word changed. */
function changedWord({ context, tokens, text, place }: Fragment): AddProposal[] | undefined {
  const isNow = /\b(?:now|these days)\b/i.test(text);
  const end = readNounPhrase(tokens, 0, tokens.length);
  if (!isNow || end === undefined) return undefined;
  const value = tidy(context.content.slice(tokens[0]?.start, tokens[end - 1]?.end));
  const fresh = telling(value);
  const old = held(context).findLast(({ claim, memory }) => {
    const words = telling(claim.value);
    const kept = words.filter((word) => fresh.includes(word)).length;
    return (
      memory !== undefined && words.length > 1 && words.length === fresh.length && kept === words.length - 1
    );
  });
  const target = old && targetOf([old]);
  if (!old || !target) return undefined;
  return [
    adding(context, place, {
      text: withValue(old, value),
      claim: { ...old.claim, value },
      ...(old.memory ? { kind: old.memory.kind } : {}),
      replaces: target,
    }),
  ];
}

/** "down to 76 kilos now!": another value of the kind that was told. */
function revised({ context, text, place }: Fragment): AddProposal[] | undefined {
  const value =
    /^(?:(?:i['’]?m|it['’]?s|now|currently) )*(?:(?:back )?(?:down|up) (?:to|at)|now(?: at| on)?) (?<to>.+)$|^(?<now>.*\d.*?),? (?:now|these days)$/i.exec(
      text,
    )?.groups;
  const amount = value?.to ?? value?.now ?? "";
  const found = value && sameKind(context, amount, canChange(context, amount));
  return found ? [replaced(context, place, found)] : backOn(context, text, place);
}

/** "back on days now": the other of what one is on. */
export function backOn(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const found =
    /^(?:now )?(?:back )?(?<joint>on|in|at) (?<what>[^,.!]{2,30}?) (?:now|again|these days)\b/i.exec(
      text,
    )?.groups;
  if (!found?.what) return undefined;
  const { speaker } = context.discourse;
  const relation = `be ${found.joint?.toLowerCase()}`;
  const old = held(context).filter(
    ({ claim }) => claim.subject === speaker.path && claim.relation === relation,
  );
  const target = old.length === 1 ? targetOf(old) : undefined;
  if (!target) return undefined;
  return [
    adding(context, place, {
      text: compose(speaker.display, `is ${found.joint?.toLowerCase()}`, found.what),
      claim: claimOf(speaker.path, relation, found.what),
      replaces: target,
    }),
  ];
}

/** "Hugo (8)": how old somebody is who was just named. */
export function agesInBrackets(
  context: Context,
  text: string,
  place: { start: number; end: number },
): AddProposal[] {
  return Array.from(text.matchAll(/(\p{Lu}[\p{L}'’-]+) \((?:aged )?(\d{1,2})\)/gu)).flatMap(
    ([, name = "", age = ""]) => {
      const naming = held(context).findLast(
        ({ claim }) => claim.relation === "be called" && claim.value.toLowerCase() === name.toLowerCase(),
      );
      if (!naming) return [];
      return [
        adding(context, place, {
          text: compose(name, "is", age, "years old"),
          claim: claimOf(naming.claim.subject, "be aged", age),
        }),
      ];
    },
  );
}

const FAREWELL =
  /(?:^|[,;.!:–—-]\s*|\b(?:so|and|well) )(?:no more|bye(?:[ -]?bye)?|goodbye|so long|farewell(?: to)?|adios|(?:i['’]?m |we['’]re )?(?:done|through|finished) with|rip)[, ]+(?<what>[^,;.!?]{2,50}?)(?: for (?:me|us)| from now on| please)?(?=[,;.!?]|$| because | since | as )/giu;

/** "no more meat for me", "bye bye Magnet": what goes, wherever it stands in a sentence. */
export function farewells(context: Context, text: string, place: { start: number; end: number }): Proposal[] {
  return Array.from(text.matchAll(FAREWELL)).flatMap((found) => {
    const named = tidy(found.groups?.what ?? "").replace(/^(?:my|the|our|using|to) /i, "");
    const target = named === "" ? undefined : targetOf(meant(context, { named }));
    return target ? [ending(context, place, target)] : [];
  });
}
