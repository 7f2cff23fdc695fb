import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import { isAge } from "../claims/age-claims.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import { ANIMALS, FEMALE, MALE } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import type { Discourse, Entity } from "./entity.ts";

/** One of a group, by name, and how old, where that stands behind the name. */
export interface Member {
  readonly name: string;
  /** "7", "nine" */
  readonly age?: string;
}

/** "my sons Emil and Jakob": several of one noun, each by name. */
export interface Group {
  /** "sons" */
  readonly noun: string;
  readonly members: readonly Member[];
  /** Behind the last name. */
  readonly to: number;
}

/** The names behind a plural noun for persons or animals, where there are two or more. `at`: its token. */
export function groupAt(tokens: readonly Token[], at: number): Group | undefined {
  const noun = tokens[at];
  const one = toSingular(noun?.lower ?? "");
  if (!noun || one === noun.lower || !/^,?:?(?: | ?[(–—-] ?)?$/.test(noun.after) || !isKindOfMany(one))
    return undefined;
  const { members, to } = readMembers(tokens, at + 1);
  return members.length < 2 ? undefined : { noun: noun.lower, members, to };
}

function readMembers(tokens: readonly Token[], from: number): Pick<Group, "members" | "to"> {
  const members: Member[] = [];
  let i = from;
  while (isNamed(tokens, i)) {
    if (!isCapital(tokens[i])) i += 1;
    const { word: name, owner } = tokens[i] as Token;
    if (owner) break;
    const told = ageBehind(tokens, i);
    members.push(told ? { name, age: told.age } : { name });
    i = told?.to ?? i + 1;
    const isAnd = /^(?:and|&)$/.test(tokens[i]?.lower ?? "");
    if (isAnd && isNamed(tokens, i + 1)) i += 1;
    else if (!/[,;]/.test(tokens[i - 1]?.after ?? "")) break;
  }
  return { members, to: i };
}

/** "Emil", "little Emil" */
function isNamed(tokens: readonly Token[], at: number): boolean {
  return (
    isCapital(tokens[at]) ||
    (/^(?:little|big|baby)$/.test(tokens[at]?.lower ?? "") && isCapital(tokens[at + 1]))
  );
}

/** "Sam 7", "Sam (7)", "Zosia 9 years", "Lily, who is three": the age behind the name at a token. */
function ageBehind(tokens: readonly Token[], at: number): { age: string; to: number } | undefined {
  let i = at + 1;
  if (tokens[i]?.lower === "who" && /^(?:is|'s)$/.test(tokens[i + 1]?.lower ?? "")) i += 2;
  else if (/^(?:aged|is)$/.test(tokens[i]?.lower ?? "")) i += 1;
  const age = tokens[i]?.word.replace(/^\(|\)$/g, "") ?? "";
  if (!isAge(age)) return undefined;
  i += 1;
  if (/^(?:years?|yrs?|y\/?o)$/.test(tokens[i]?.lower ?? "")) i += 1;
  if (tokens[i]?.lower === "old") i += 1;
  return { age, to: i };
}

function isKindOfMany(one: string): boolean {
  return (
    ANIMALS.has(one) ||
    FEMALE.has(one) ||
    MALE.has(one) ||
    isPersonNoun(one) ||
    /^(?:kid|child|twin|pet)$/.test(one)
  );
}

/** "my sons Emil and Jakob", "my uncle Ted and his son Abe", as the subject of a clause; undefined for all others. */
export function groupSubject(
  talk: Discourse,
  tokens: readonly Token[],
  [from, to]: Stretch,
): Entity | undefined {
  if (!/^(?:my|our)$/.test(tokens[from]?.lower ?? "")) return undefined;
  const at = tokens.findIndex((_, i) => i > from && i < to && groupAt(tokens, i)?.to === to);
  const group = at < 0 ? undefined : groupAt(tokens, at);
  if (group) {
    const owner = talk.speaker.path === "user" ? "The user's" : `${talk.speaker.display}'s`;
    const names = joinNames(group.members.map(({ name }) => name));
    const display = `${owner} ${group.noun} ${names}`;
    return { path: `${talk.speaker.path}/${group.noun}`, display, animate: true, plural: true };
  }
  return coupleSubject(talk, tokens, [from, to]) ?? companySubject(talk, tokens, [from, to]);
}

function joinNames(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** "My wife and the girls": what is said of them all is told of the first. */
function companySubject(talk: Discourse, tokens: readonly Token[], [from, to]: Stretch): Entity | undefined {
  const and = tokens.findIndex(
    ({ lower }, i) =>
      i > from && i < to && lower === "and" && /^(?:the|my|our)$/.test(tokens[i + 1]?.lower ?? ""),
  );
  const first = and < 0 ? undefined : talk.resolve(tokens, from, and);
  if (!first?.animate) return undefined;
  const { name: _name, ...unnamed } = first;
  const own = talk.speaker.path === "user" ? "the user's" : `${talk.speaker.display}'s`;
  const owner = tokens[and + 1]?.lower === "the" ? "the" : own;
  const others = tokens.slice(and + 2, to).map(({ word }) => word);
  return { ...unnamed, display: `${first.display} and ${owner} ${others.join(" ")}`, plural: true };
}

/** "his" means the one named right before it. */
function coupleSubject(talk: Discourse, tokens: readonly Token[], [from, to]: Stretch): Entity | undefined {
  const and = tokens.findIndex(
    ({ lower }, i) =>
      i > from && i < to && lower === "and" && /^(?:his|her|their)$/.test(tokens[i + 1]?.lower ?? ""),
  );
  const first = and < 0 ? undefined : talk.resolve(tokens, from, and);
  if (!first) return undefined;
  talk.mention(first);
  const second = talk.resolve(tokens, and + 1, to);
  const words = second?.display.split(" ").slice(first.display.split(" ").length).join(" ") ?? "";
  if (!second || words === "") return undefined;
  talk.mention(second);
  const { name: _name, ...unnamed } = first;
  const own = first.gender === "female" ? "her" : first.gender === "male" ? "his" : "their";
  return { ...unnamed, display: `${first.display} and ${own} ${words}`, plural: true };
}

/** Each of several who are named behind "my" and their noun, wherever it stands. */
export function groupNames(context: Context, tokens: readonly Token[]): AddProposal[] {
  return tokens.flatMap((token, at) => {
    const from = Math.max(0, at - 3);
    const owner = tokens.findLastIndex(({ lower }, i) => i >= from && i < at && /^(?:my|our)$/.test(lower));
    const group = owner < 0 || token.quoted ? undefined : groupAt(tokens, at);
    if (!group) return [];
    const { speaker } = context.discourse;
    const one = toSingular(group.noun);
    const place = { start: tokens[owner]?.start ?? 0, end: tokens[group.to - 1]?.end ?? 0 };
    if (said(context, tokens, owner, group.to) === "") return [];
    return group.members.flatMap((member) => memberClaims(context, speaker, one, member, place));
  });
}

/** One of several who bear the same noun has a path of its own: "user/kid Ada". */
export function memberClaims(
  context: Context,
  owner: Pick<Entity, "path" | "display">,
  noun: string,
  { name, age }: Member,
  place: { readonly start: number; readonly end: number },
): AddProposal[] {
  const path = `${owner.path}/${noun} ${name}`;
  const whose = owner.path === "user" ? "The user's" : `${owner.display}'s`;
  const called = adding(context, place, {
    text: compose(whose, noun, "is called", name),
    claim: claimOf(path, "be called", name),
    importance: 0.8,
    holds: "many",
  });
  if (age === undefined) return [called];
  const aged = adding(context, place, {
    text: compose(whose, noun, name, "is", age, "years old"),
    claim: claimOf(path, "be aged", age),
    importance: 0.7,
  });
  return [called, aged];
}
