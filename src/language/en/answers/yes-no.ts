import type { MemoryAtTime } from "../../../domain/memories/current-memories.ts";
import type { Claim, Memory } from "../../../domain/memory.ts";
import { areExclusive, areOpposed, listStates } from "../relations/states.ts";
import { capitalize, toGerund, toSecondPerson, toSentence } from "../word-forms.ts";
import { bagOf, coverage, essence } from "./essence.ts";
import { alternatives, type Match } from "./match.ts";
import { PARTING } from "./parting.ts";
import { sayOne, sayPath, sayValue } from "./say.ts";
import type { AskedQuestion } from "./subjects.ts";

/** Answers with yes or no and what it rests on; undefined where nothing speaks for either. */
export function yesOrNo(
  asked: AskedQuestion,
  found: readonly Match[],
  held: readonly MemoryAtTime[],
): { text: string; used: string[] } | undefined {
  const { question } = asked;
  const current = found.filter(({ holds, by }) => holds && by !== "thing");
  const parted = partedFrom(asked, held);
  const [best] = current.filter(
    ({ memory }) => !PARTING.test(memory.claim?.relation ?? "") && !isOnlyWished(asked, memory),
  );
  const again = parted && resumedAfter(parted, asked, held);
  if (again) return { text: `Yes, ${low(toSecondPerson(again.memory.text))}`, used: [again.memory.id] };
  if (parted && (!best || parted.memory.at >= best.memory.at))
    return { text: `No, ${low(sayOne(parted.memory, question, asked.text))}`, used: [parted.memory.id] };
  if (best)
    return { text: affirmed(best, asked), used: listed(best, current).map(({ memory }) => memory.id) };
  const before = formerly(asked, held);
  if (before)
    return { text: `No, ${low(sayOne(before.memory, question, asked.text))}`, used: [before.memory.id] };
  const past = found.find(({ holds }) => !holds);
  if (past?.memory.claim && !/^(?:not|never) /.test(past.memory.claim.relation)) {
    const { claim } = past.memory;
    const text = `No, ${low(sayPath(claim.subject))} ${noLonger(claim)} ${sayValue(claim.value)}`;
    return { text: toSentence(text), used: [past.memory.id] };
  }
  return fromState(asked, held);
}

/** "Am I single?", of one who is married: a state by the claims that express it, or exclude it. */
function fromState(
  asked: AskedQuestion,
  held: readonly MemoryAtTime[],
): { text: string; used: string[] } | undefined {
  const { question, text } = asked;
  const { subject = "user", relations, narrows, value = "" } = question;
  const plain = /^(?:am|are|is) .*?(?<value>[\p{L}-]+)\s*\?*$/iu.exec(text)?.groups?.value;
  const claims = [
    ...(plain === undefined ? [] : [{ subject, relation: "be", value: plain.toLowerCase() }]),
    ...relations.slice(0, 1).map((relation) => ({ subject, relation, value: narrows ?? value })),
  ];
  const wanted = claims.flatMap((claim) => listStates(claim)).find(({ owner }) => owner === subject);
  if (!wanted) return undefined;
  const current = held.filter(({ memory, holds }) => holds && memory.kind !== "event");
  const states = current.flatMap(({ memory }) =>
    (memory.claim ? listStates(memory.claim) : []).flatMap(({ owner, state }) =>
      owner === subject ? [{ memory, state }] : [],
    ),
  );
  const same = states.findLast(({ state }) => state === wanted.state);
  const found = same ?? states.findLast(({ state }) => areExclusive(state, wanted.state));
  if (!found) return undefined;
  const said = sayOne(found.memory, question, text);
  return {
    text: `${same ? "Yes" : "No"}, ${startsWithName(found.memory) ? said : low(said)}`,
    used: [found.memory.id],
  };
}

/** "I'd love to visit Iceland" is no yes to "Have I been to Iceland?" */
function isOnlyWished({ text, question }: AskedQuestion, { kind, claim }: Memory): boolean {
  // "I wish I could play the harp" answers no question but for wishes.
  if (claim?.relation === "wish") return !/\bwish/i.test(text);
  const isDone =
    question.tense === "past" || /^(?:and |so |but )?(?:have|has|did|was|were|had)\b/i.test(text);
  if (!isDone || question.relations.includes(claim?.relation ?? "")) return false;
  return (
    kind === "commitment" ||
    /^(?:want|wish|hope|would|plan|be going|like|love|need|intend) to\b/.test(claim?.relation ?? "")
  );
}

function low(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** "no longer use", "are no longer engaged to". */
function noLonger({ subject, relation }: Claim): string {
  if (!/^be\b/.test(relation)) return `no longer ${subject === "user" ? relation : thirdLow(relation)}`;
  return `${subject === "user" ? "are" : "is"} no longer${relation.slice(2)}`;
}

function thirdLow(relation: string): string {
  const [head = "", ...rest] = relation.split(" ");
  const third = head === "be" ? "is" : head === "have" ? "has" : `${head}s`;
  return [third, ...rest].join(" ");
}

/** Yes with what holds; no where what holds denies it; for "this or that", plainly the one. */
function affirmed(match: Match, asked: AskedQuestion): string {
  const { memory } = match;
  const claim = memory.claim;
  const said = sayOne(memory, asked.question, asked.text);
  const isDenied =
    /^(?:not|never) /.test(claim?.relation ?? "") ||
    isOver(asked, claim) ||
    asked.question.relations.some((relation) => areOpposed(relation, claim?.relation ?? ""));
  if (isDenied) return `No, ${low(said)}`;
  if (alternatives(asked.question).length > 1) return capitalize(said);
  return `Yes, ${startsWithName(memory) ? said : low(said)}`;
}

/** "Do I play chess?", of one who used to. */
function isOver({ question, text }: AskedQuestion, claim: Claim | undefined): boolean {
  const isPast =
    question.past === true || question.tense === "past" || /\b(?:did|used? to|ever)\b/i.test(text);
  return !isPast && /^used to /.test(claim?.relation ?? "");
}

function startsWithName(memory: Memory): boolean {
  return !/^(?:The|You)/.test(toSecondPerson(memory.text)) && !/^Your/.test(toSecondPerson(memory.text));
}

function listed(best: Match, current: readonly Match[]): Match[] {
  return current.filter(
    ({ memory }) =>
      memory.claim?.relation === best.memory.claim?.relation &&
      memory.claim?.subject === best.memory.claim?.subject,
  );
}

/** An event that ended what is asked about: "you broke up with Marco". */
function partedFrom(asked: AskedQuestion, held: readonly MemoryAtTime[]): MemoryAtTime | undefined {
  const value = asked.question.value ?? asked.question.narrows ?? "";
  // "Am I still a member of PureFit?": what goes by a name is enough.
  const names = (value.match(/\p{Lu}[\p{L}\d'’-]*/gu) ?? []).flatMap((name) => essence(name));
  const telling = names.length > 0 ? names : essence(value);
  if (telling.length === 0) return stoppedDoing(asked, held);
  const asksLife = /\b(?:alive|living|around|with us)\b/i.test(asked.text);
  return held
    .filter(
      ({ memory, holds }) =>
        holds &&
        memory.claim !== undefined &&
        memory.kind !== "commitment" &&
        !/\b(?:will|might|may)\b/.test(memory.text) &&
        PARTING.test(memory.claim.relation) &&
        asked.fits(memory.claim.subject) > 0,
    )
    .filter(
      ({ memory }) =>
        (memory.claim?.relation === "die" &&
          (asksLife || coverage(bagOf(memory.claim.subject.split("/").at(-1) ?? ""), telling) === 1)) ||
        coverage(bagOf(memory.claim?.value ?? ""), telling) === 1,
    )
    .findLast(({ memory }) => !isAsked(asked, memory));
}

/** "Am I vegan?", after "I used to be vegan". */
function formerly(
  { question, fits }: AskedQuestion,
  held: readonly MemoryAtTime[],
): MemoryAtTime | undefined {
  const telling = essence(question.value ?? question.narrows ?? "");
  return held.findLast(({ memory: { claim }, holds }) => {
    const doing = /^used to (?<doing>.+)$/.exec(claim?.relation ?? "")?.groups?.doing;
    if (!holds || !claim || doing === undefined || fits(claim.subject) === 0) return false;
    return question.relations.includes(doing) && coverage(bagOf(claim.value), telling) === 1;
  });
}

/** "Do I drink?", after "gave up drinking": the doing alone was ended. */
function stoppedDoing(
  { question, fits }: AskedQuestion,
  held: readonly MemoryAtTime[],
): MemoryAtTime | undefined {
  return held.findLast(({ memory: { claim }, holds }) => {
    const doing = claim && STOPPED.exec(`${claim.relation} ${claim.value}`)?.groups?.doing;
    if (!holds || doing === undefined || fits(claim?.subject ?? "") === 0) return false;
    return question.relations.some((relation) => toGerund(relation) === doing);
  });
}

/** "started smoking again", "is back on coffee", after the smoking or the coffee was given up. */
function resumedAfter(
  { memory: { claim, at } }: MemoryAtTime,
  { fits }: AskedQuestion,
  held: readonly MemoryAtTime[],
): MemoryAtTime | undefined {
  const what = essence(`${claim?.relation ?? ""} ${claim?.value ?? ""}`.replace(PARTING, ""));
  if (what.length === 0) return undefined;
  return held.findLast(
    ({ memory, holds }) =>
      holds &&
      memory.at > at &&
      fits(memory.claim?.subject ?? "") > 0 &&
      RESUMED.test(memory.text) &&
      !/\b(?:not|never|want|wants|hopes?|plans?|might|tempted)\b/.test(memory.text) &&
      coverage(bagOf(memory.text), what) === 1,
  );
}

const RESUMED = /\b(?:again|back (?:on|to|into)|resum\w+|re-?start\w+|(?:took|taken|takes) up)\b/;

const STOPPED = /^(?:stop|quit|give up) (?<doing>\p{L}+ing)(?: |$)/u;

/** "Did I sell the Canon?": then the selling is a yes. */
function isAsked(asked: AskedQuestion, memory: Memory): boolean {
  const relation = memory.claim?.relation ?? "";
  const isParting = /^(?:break up with|divorce)$/.test(relation);
  // "Are Lena and I splitting up?"
  const asksParting = isParting && /\b(?:divorc|split|break|broke|separat)/i.test(asked.text);
  return asksParting || asked.question.relations.includes(relation);
}
