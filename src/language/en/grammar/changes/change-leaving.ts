import type { EndProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, ending, said, tidy } from "../context.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { isName } from "../words/nouns.ts";
import type { Token } from "../words/token.ts";
import { type Change, endedAt, fromThen, thirdRelation } from "./change.ts";
import { event } from "./ending-event.ts";

// --- things that end by themselves, people who leave, what others end --------------------------------------------
const VANISHES =
  /^(?:split up|break up|fold|close|close down|shut|shut down|go bust|go under|disband|end|expire|lapse|run out|break|break down|pack up|die|be stolen|get stolen|go missing|crash|conk out|finish|cancel|heal|heal up|mend|clear up)$/;
const UNDONE =
  /\b(?:stolen|nicked|cancelled|canceled|discontinued|scrapped|closed down|shut down|written off|called off|axed|gone|dead|finished|sold|given away|no more)\b/i;

/** "the band split up", "my bike got stolen", "the gym has closed down": what the user had of it is over. */
export function vanished(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const { subject, clause } = statement;
  const { verb, tokens, rest } = clause;
  const { speaker } = context.discourse;
  if (subject.path === speaker.path || verb.denied || verb.open || verb.tense === "future") return undefined;
  const behind = said(context, tokens, ...rest);
  const isUndone = /^(?:be|get|have)$/.test(verb.lemma) || verb.passive ? UNDONE.test(text) : false;
  const isSelf =
    VANISHES.test(verb.lemma) && !/^\p{L}+ (?:the|my|a|an) /u.test(behind) && behind.split(" ").length < 5;
  if (!isUndone && !isSelf) return undefined;
  const thing = subject.path.split("/").at(-1) ?? "";
  if (subject.animate && !/^cancel/.test(verb.lemma)) return undefined;
  const found = mine(change, thing);
  const target = targetOf(found);
  return (
    target && [
      ending(context, getStatementSpan(change), target, endedAt(change)),
      event(change, verb.lemma, verb.lemma),
    ]
  );
}

/** What the user has or does that names the thing. */
function mine({ context }: Change, thing: string): Held[] {
  const { speaker } = context.discourse;
  const asked = telling(thing);
  if (asked.length === 0) return [];
  return held(context).filter(({ claim, memory }) => {
    if (claim.subject !== speaker.path || memory?.kind === "event") return false;
    const words = telling(`${claim.value} ${claim.qualifier ?? ""}`);
    return asked.every((word) => words.includes(word));
  });
}

const LEAVES =
  /^(?:move out|move away|move|retire|leave|quit|resign|emigrate|get fired|go|move on|die|pass away)$/;
/** Who one has only while they are there. */
const PRESENT =
  /^(?:lodger|housemate|flatmate|roommate|tenant|au-pair|nanny|cleaner|therapist|boss|manager|lead|coach|trainer|teacher|tutor|doctor|gp|dentist|assistant|colleague|hairdresser|barber|accountant|lawyer|supervisor|mentor|babysitter|childminder|instructor|landlord|landlady|neighbour|neighbor|postman|physio|head|captain|editor|agent|carer)s?$/;

/** "Wim moved out", "Joan retired": whom the user had as a lodger, a therapist. */
export function departed(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { subject, clause } = statement;
  const { verb } = clause;
  if (!LEAVES.test(verb.lemma) || verb.denied || (verb.tense !== "past" && !verb.perfect)) return undefined;
  if (hasOwnObject(change)) return undefined;
  if (!subject.path.includes("/")) return leftUs(change);
  const role = subject.path.split("/").at(-1) ?? "";
  const noun =
    role
      .replace(/ \p{Lu}.*$/u, "")
      .split(" ")
      .at(-1) ?? "";
  if (!PRESENT.test(noun)) return undefined;
  const isOneOfMany = / \p{Lu}/u.test(role);
  const found = held(context).filter(
    ({ claim, memory }) =>
      memory?.kind !== "event" &&
      ((claim.subject === subject.path && claim.relation === "be called") ||
        (!isOneOfMany &&
          claim.subject === context.discourse.speaker.path &&
          telling(claim.value).includes(telling(noun)[0] ?? noun)) ||
        (subject.name !== undefined && claim.relation === "live with" && claim.value.includes(subject.name))),
  );
  const target = targetOf(found);
  return (
    target && [
      ending(context, getStatementSpan(change), target, endedAt(change)),
      event(change, verb.lemma, verb.lemma),
    ]
  );
}

/** "she moved her class to the hall": something else moved, and she stays. */
function hasOwnObject({ phrases, statement: { clause } }: Change): boolean {
  const [first] = phrases;
  const isOwn = clause.tokens[first?.from ?? clause.tokens.length]?.class === "possessive";
  return first?.kind === "noun" && (isOwn || clause.verb.lemma === "move");
}

/** "Piotr moved out": with whom one lived. */
function leftUs(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { subject, clause } = statement;
  if (!/^(?:move out|move away|leave|emigrate|die|pass away)$/.test(clause.verb.lemma)) return undefined;
  const found = held(context).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:live|share a flat|share a house) with$/.test(claim.relation) &&
      telling(claim.value).includes(telling(subject.path)[0] ?? subject.path),
  );
  const target = targetOf(found);
  return (
    target && [
      ending(context, getStatementSpan(change), target, endedAt(change)),
      event(change, clause.verb.lemma, clause.verb.lemma),
    ]
  );
}

const TAKEN =
  /\b(?:(?:took|taken|take|takes|taking) (?:me|us) off|(?:came|come|am coming|['’]m coming) off|weaned (?:me |myself )?off|(?:put|threw) an end to|called (?:it quits|time) (?:on|with)|called it a day (?:with|on)|(?:had|have) enough of|fell out with|bowed out of|pulled out of|backed out of|walked out (?:of|on)|stepped (?:down|back) (?:from|as)|parted (?:ways )?with|moved on from|(?:got|get) shot of|said goodbye to|signed off from|checked out of|fed up with)(?: (?:doing|taking|playing|using|going to|coaching|teaching|my|our))* (?<what>(?:the |a |an |my )?\S.*)$/i;
const HEADED =
  /\b(?:knock|knocked|knocking) (?<what>\S.*?) on the head\b|\blet (?<lapsed>\S.*?) (?:run out|lapse|expire|go|slide)\b/i;

/** "the doctor took me off ramipril", "knocked the class on the head", "let the pass run out". */
export function endedOtherwise(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const { verb } = statement.clause;
  if (verb.denied && /^(?:renew|extend)$/.test(verb.lemma) && verb.tense === "past")
    return notRenewed(change);
  if (verb.denied || verb.open || verb.tense === "future") return undefined;
  const groups = (TAKEN.exec(text) ?? HEADED.exec(text))?.groups;
  const named = tidy(
    (groups?.what ?? groups?.lapsed ?? "").split(/,| because | since | last | after /)[0] ?? "",
  );
  if (named === "") return undefined;
  const target = targetOf(meant(context, { named, isNoName: true }));
  const isLet = groups?.lapsed !== undefined;
  return (
    target && [
      ending(context, getStatementSpan(change), target, endedAt(change)),
      ...(isLet ? [event(change, "let go", "let go")] : []),
    ]
  );
}

/** "Tove's been replaced by Magnus", "Magnus took over from Tove" */
export function readReplacement(change: Change): Proposal[] | undefined {
  const { context, text } = change;
  const found =
    /^(?<old>\p{Lu}[\p{L}'’ -]*?)(?:['’]s| has| have| was| is|['’]ve) (?:been |being )?replaced (?:by|with) (?<fresh>\p{Lu}[\p{L}'’ -]+)$/u.exec(
      text,
    )?.groups ??
    /^(?<fresh>\p{Lu}[\p{L}'’ -]*?) (?:took|has taken|is taking|takes) over from (?<old>\p{Lu}[\p{L}'’ -]+)$/u.exec(
      text,
    )?.groups;
  if (!found?.old || !found.fresh) return undefined;
  const [naming] = meant(context, { named: found.old, relation: "be called" });
  const target = naming && targetOf([naming]);
  if (!naming || !target) return undefined;
  const fresh = tidy(found.fresh);
  const display = naming.memory?.text.replace(/ (?:is|are) called .*$/, "") ?? "";
  return [
    adding(context, getStatementSpan(change), {
      text: compose(display, "is called", fresh),
      claim: claimOf(naming.claim.subject, "be called", fresh),
      holds: "one",
      replaces: target,
      ...fromThen(change),
    }),
  ];
}

/** "didn't renew the zoo membership" */
function notRenewed(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const item = phrases.find(({ kind }) => kind === "noun")?.items[0];
  const named = item ? said(context, statement.clause.tokens, ...item) : "";
  const target = named === "" ? undefined : targetOf(meant(context, { named, isNoName: true }));
  return (
    target && [
      ending(context, getStatementSpan(change), target, endedAt(change)),
      event(change, "not renew", "not renew"),
    ]
  );
}

/** "Joan retired so I see Marek now": in the place of the one whose naming has just ended. */
export function succeeded(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  const object = phrases.find(({ kind }) => kind === "noun" || kind === "preposition")?.items[0];
  const isTaking = /^(?:see|have|get|use|go|be|visit|work|deal)$/.test(verb.lemma) && !verb.denied;
  if (!isTaking || !object || !isName(tokens, ...object)) return undefined;
  const ended = context.made.findLast((one): one is EndProposal => one.propose === "supersede");
  const ids = ended?.target.ids ?? [];
  const naming = context.known.find(({ id, claim }) => ids.includes(id) && claim?.relation === "be called");
  if (!naming?.claim) return undefined;
  const name = said(context, tokens, ...object);
  const bare = naming.text.replace(/ (?:is|are) called .*$/, "");
  return [
    adding(context, getStatementSpan(change), {
      text: compose(bare, "is called", name),
      claim: claimOf(naming.claim.subject, "be called", name),
      holds: "one",
      importance: 0.8,
    }),
  ];
}

/** "we hit 15,000 subscribers": more of what one has. */
export function reached(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  if (!/^(?:hit|reach|pass|cross|top|be up to|be down to)$/.test(verb.lemma) || verb.denied) return undefined;
  const item = phrases.find(({ kind }) => kind === "noun")?.items[0];
  const value = item ? said(context, tokens, ...item) : "";
  const [, noun] = /^(?:over |about |around )?[\d.,]+[km]? (?<noun>.+)$/i.exec(value) ?? [];
  if (noun === undefined) return undefined;
  const old = held(context).filter(
    ({ claim }) =>
      claim.subject === statement.subject.path &&
      /^[\d.,]+[km]? /i.test(claim.value) &&
      claim.value.endsWith(noun),
  );
  const [first] = old;
  const target = targetOf(old);
  if (!first || !target) return undefined;
  return [
    adding(context, getStatementSpan(change), {
      text: compose(statement.subject.display, thirdRelation(first.claim.relation), value),
      claim: claimOf(first.claim.subject, first.claim.relation, value),
      replaces: target,
      ...fromThen(change),
    }),
  ];
}

const COLOURS = new Set(
  "red blue green yellow orange purple pink brown black white grey gray silver gold beige turquoise teal navy maroon violet indigo lilac lavender mustard cream crimson scarlet olive burgundy magenta cyan bronze copper mint coral charcoal ivory khaki ginger blonde blond auburn sage terracotta peach magnolia".split(
    " ",
  ),
);
const SHADES =
  /^(?:light|dark|pale|bright|deep|soft|neon|pastel|duck-egg|sky|forest|bottle|royal|baby|hot|off)$/;

/** Where the colour stands behind the thing: "mint green"; an empty stretch where there is none. */
function colourIn(tokens: readonly Token[], from: number, end: number): readonly [number, number] {
  let start = tokens.findIndex(({ lower }, i) => i > from && i < end && COLOURS.has(lower));
  if (start < 0) return [0, 0];
  let to = start + 1;
  while (to < end && COLOURS.has(tokens[to]?.lower ?? "")) to += 1;
  if (SHADES.test(tokens[start - 1]?.lower ?? "")) start -= 1;
  return [start, to];
}

/** "dyed my hair pink", "we painted the spare room yellow": what colour it has then. */
export function coloured(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  const isDone = verb.tense === "past" || verb.perfect;
  if (!/^(?:dye|paint|repaint|colour|color|bleach|respray)$/.test(verb.lemma) || verb.denied || !isDone)
    return undefined;
  const object = phrases.find(({ kind }) => kind === "noun");
  const item = object?.items[0];
  const [from, to] = item ? colourIn(tokens, item[0], statement.clause.rest[1]) : [0, 0];
  const thing = item && from > item[0] + 1 ? context.discourse.resolve(tokens, item[0], from) : undefined;
  if (!thing || thing.path === context.discourse.speaker.path) return undefined;
  const value = said(context, tokens, from, to);
  const old = held(context).filter(
    ({ claim, memory }) => claim.subject === thing.path && claim.relation === "be" && memory !== undefined,
  );
  const target = old.length === 1 ? targetOf(old) : undefined;
  return [
    event(change, verb.lemma, verb.lemma, object),
    adding(context, getStatementSpan(change), {
      text: compose(thing.display, thing.plural ? "are" : "is", value),
      claim: claimOf(thing.path, "be", value),
      ...(target ? { replaces: target } : {}),
      ...fromThen(change),
    }),
  ];
}
