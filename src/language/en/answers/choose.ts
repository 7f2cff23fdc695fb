import type { Claim, Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { isKnownNoun } from "../kinds/kinds.ts";
import { listAttributeRelations } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import { isWide } from "./kind.ts";
import type { Match } from "./match.ts";

/** The matches that answer together: those of the best way of matching that name the kind asked for. */
export async function choose(
  embedder: Embedder,
  question: Question,
  found: readonly Match[],
): Promise<Match[]> {
  const current = found.filter(({ holds }) => holds);
  const pool = question.past
    ? found.filter(
        ({ holds, memory }) =>
          !holds || memory.claim?.relation.startsWith("used to ") === true || memory.kind === "event",
      )
    : current;
  const [best] = pool;
  if (!best) return [];
  const same = pool.filter(({ by }) => by === best.by);
  const narrowed =
    best.by === "relation" ? await byKind(embedder, question, latest(narrowest(question, same))) : same;
  const [first] = narrowed;
  if (!first) {
    const rest = pool.filter(({ by }) => by !== best.by);
    return rest.length > 0 ? choose(embedder, question, rest) : [];
  }
  return together(question, narrowed, first);
}

/** "upgrade to a Pixel 9": tells what takes the place of what was before. */
export function isSuccession({ claim }: Memory): boolean {
  return SUCCEEDS.test(claim?.relation ?? "");
}

const SUCCEEDS = /^(?:upgrade to|switch to|go with|change to|replace with|move to|swap to)$/;

/** "upgraded to a Pixel 9": what came later takes the place of what the thing was before. */
function latest(matches: readonly Match[]): readonly Match[] {
  const news = matches.filter(({ memory, kind }) => isSuccession(memory) && kind !== false);
  const since = news
    .map(({ memory }) => memory.at)
    .sort()
    .at(-1);
  if (since === undefined) return matches;
  return matches.filter((match) => news.includes(match) || match.memory.at > since);
}

/** "How do I like my steak?": what is said of the steak, where something is. */
function narrowest(question: Question, matches: readonly Match[]): readonly Match[] {
  const met = question.narrows === undefined ? [] : matches.filter(({ isNarrowed }) => isNarrowed);
  return met.length > 0 ? met : matches;
}

/** Of wide relations ("use", "have") only what is of the kind asked for answers. */
async function byKind(embedder: Embedder, question: Question, matches: readonly Match[]): Promise<Match[]> {
  const sure = matches.filter(({ kind, isNarrowed }) => kind === true || isNarrowed);
  const isAsked = question.topic !== undefined && question.asks !== "how_many" && question.asks !== "when";
  if (!isAsked) return [...matches];
  if (sure.length > 0) return withList(sure, matches);
  const strong = matches.filter(
    ({ memory }) =>
      !isWide(memory.claim?.relation ?? "") ||
      memory.claim?.subject !== question.subject ||
      (memory.claim !== undefined && isSaidOfThing(question, memory.claim)),
  );
  if (strong.length > 0) return strong;
  // Only what is said with the very verb of the question is near enough by meaning alone.
  const direct = matches.filter(({ memory }) => memory.claim?.relation === question.relations[0]);
  const close = await near(embedder, question.topic ?? "", direct);
  if (close.length > 0) return withList(close, matches);
  return matches.filter(
    (match) => TELLING.test(match.memory.claim?.relation ?? "") || isNamedFor(question, match),
  );
}

/** With the other members of their lists, of which nothing says that they are of another kind. */
function withList(chosen: readonly Match[], matches: readonly Match[]): Match[] {
  const others = matches.filter(
    (match) =>
      match.kind === undefined &&
      !chosen.includes(match) &&
      chosen.some((one) => isOneList(one.memory, match.memory)),
  );
  return [...chosen, ...others].sort((a, b) => b.score - a.score);
}

/** Members of one list ("the Guardian, Le Monde and El País"): what one of them is, the others are. */
export function isOneList(one: Memory, other: Memory): boolean {
  const a = one.sources[0];
  const b = other.sources[0];
  if (one === other || !a || !b || isCounted(other.claim?.value ?? "")) return false;
  const isSame = a.message === b.message && a.start === b.start && a.end === b.end;
  return (
    isSame && one.claim?.relation === other.claim?.relation && one.claim?.subject === other.claim?.subject
  );
}

/** "a dog AND A BROTHER": a counted noun tells by itself what it is of. "Thai and Italian food", "a Golf" do not. */
function isCounted(value: string): boolean {
  const [head = ""] = value.split(/\b(?:called|named|with|for|in|of|on|from|at|that|who|which)\b/u);
  const noun = head.trim().split(/\s+/).at(-1) ?? "";
  return COUNTED.test(head) && !/^\p{Lu}/u.test(noun) && isKnownNoun(toSingular(noun));
}

const COUNTED = /^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several|my|our) /i;

/** "Which bank are my savings with?": the joint is the same, and it is said of the thing that is asked about. */
function isSaidOfThing({ subject, relations }: Question, claim: Claim): boolean {
  return subject?.includes("/") === true && claim.relation.includes(" ") && claim.relation === relations[0];
}

/** "What supplements do I take?": the noun goes with the verb, and nothing says that it is another kind of thing. */
function isNamedFor({ topic = "", relations }: Question, { memory, kind }: Match): boolean {
  const relation = memory.claim?.relation ?? "";
  const noun = toSingular(topic.toLowerCase().split(" ").at(-1) ?? "");
  const isDirect = relation === relations[0] && listAttributeRelations(noun)[0] === relation;
  // "What classes do I do?": "do" stands behind all that people do for a living.
  const isDoing =
    relation === "do" && relations.includes("do") && listAttributeRelations(noun).includes("do");
  return kind === undefined && (isDirect || isDoing);
}

/** Near enough in meaning to be of a kind: the values nearest to the topic. */
async function near(embedder: Embedder, topic: string, matches: readonly Match[]): Promise<Match[]> {
  if (!embedder.local || matches.length === 0) return [];
  const [asked, ...values] = await embedder.embed([
    topic,
    ...matches.map(({ memory }) => memory.claim?.value ?? memory.text),
  ]);
  if (!asked) return [];
  const scored = matches.map((match, i) => ({ match, cosine: dot(asked, values[i] ?? asked) }));
  const best = Math.max(...scored.map(({ cosine }) => cosine));
  const floor = Math.max(NEAR, best - 0.15);
  return scored.filter(({ cosine }) => cosine >= floor).map(({ match }) => match);
}

/** Cosine from which a value is taken for one of the kind ("ramen" and "noodle soups"). */
const NEAR = 0.3;

/** Of likes and dislikes people tell few, so that one that is of no other kind is taken for what is asked. */
const TELLING = /^(?:hate|dislike|avoid|prefer|be on|be into|enjoy|hate \w+ing)$/;

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}

/** Of one subject; or of several who bear the same noun and are told by name ("kid Ada", "kid Bruno"). */
function isOfSame(one: Claim | undefined, other: Claim | undefined): boolean {
  if (!one || !other || one.subject === other.subject) return one?.subject === other?.subject;
  const isList =
    one.relation === other.relation ||
    [one, other].every(({ relation }) => /^be(?: called)?$/.test(relation));
  return isList && toSingular(withoutName(one.subject)) === toSingular(withoutName(other.subject));
}

/** Whether the thing that is asked about is more than one. */
function isPlural({ subject = "" }: Question): boolean {
  const noun = splitWords(subject.split("/").at(-1) ?? "").at(-1) ?? "";
  return toSingular(noun) !== noun;
}

/** "user/kid Ada" -> "user/kid". */
export function withoutName(subject: string): string {
  return subject.replace(/ \p{Lu}[^/]*$/u, "");
}

const LIVING = /^live /;

/** Those that say the same thing with other values; what only comes near stays out. */
function together(question: Question, matches: readonly Match[], first: Match): Match[] {
  const lists =
    question.asks === "value" ||
    question.asks === "where" ||
    question.asks === "who" ||
    question.asks === "unknown";
  if (!lists || (question.past === true && first.memory.kind === "event")) return [first];
  const claim = first.memory.claim;
  // "What are my productivity tools?" asks for all that are claimed alike, "What is my trackball?" for one.
  if (first.by === "thing")
    return isPlural(question)
      ? matches
          .filter(({ memory }) => memory.claim?.relation === claim?.relation && isOfSame(memory.claim, claim))
          .slice(0, 12)
      : [first];
  if (first.by === "words")
    return matches
      .filter(
        ({ score, memory }) => score >= first.score - 0.05 && memory.claim?.relation === claim?.relation,
      )
      .slice(0, 5);
  // Who says how to be called has said it all.
  if (claim?.relation === "wish to be called") return [first];
  // Where one lives is not where one is until Friday.
  if (question.relations[0]?.startsWith("live ") && LIVING.test(claim?.relation ?? ""))
    return matches
      .filter(({ memory }) => LIVING.test(memory.claim?.relation ?? ""))
      .filter(({ memory }) => (memory.claim?.relation === "live with") === (claim?.relation === "live with"))
      .slice(0, 12);
  const floor = first.score - 0.75;
  return matches.filter(({ memory, score }) => score >= floor && isOfSame(memory.claim, claim)).slice(0, 12);
}
