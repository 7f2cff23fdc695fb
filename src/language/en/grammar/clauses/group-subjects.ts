import { toSingular } from "../../../../domain/text/english-forms.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import { ANIMALS, FEMALE, MALE } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import type { Discourse, Entity } from "./entity.ts";

/** "my sons Emil and Jakob": several of one noun, each by name. */
export interface Group {
  /** "sons" */
  readonly noun: string;
  readonly names: readonly string[];
  /** Behind the last name. */
  readonly to: number;
}

/** The names behind a plural noun for persons or animals, where there are two or more. `at`: its token. */
export function groupAt(tokens: readonly Token[], at: number): Group | undefined {
  const noun = tokens[at];
  const one = toSingular(noun?.lower ?? "");
  if (!noun || one === noun.lower || !/^,?:? ?$/.test(noun.after) || !isKindOfMany(one)) return undefined;
  const names: string[] = [];
  let i = at + 1;
  for (; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (!token || !isCapital(token) || token.owner) break;
    names.push(token.word);
    const isAnd = /^(?:and|&)$/.test(tokens[i + 1]?.lower ?? "");
    if (isAnd && isCapital(tokens[i + 2])) i += 1;
    else if (!token.after.includes(",")) {
      i += 1;
      break;
    }
  }
  return names.length < 2 ? undefined : { noun: noun.lower, names, to: i };
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
    const names = `${group.names.slice(0, -1).join(", ")} and ${group.names.at(-1)}`;
    const display = `${owner} ${group.noun} ${names}`;
    return { path: `${talk.speaker.path}/${group.noun}`, display, animate: true, plural: true };
  }
  return coupleSubject(talk, tokens, [from, to]) ?? companySubject(talk, tokens, [from, to]);
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
    return group.names.map((name) =>
      adding(context, place, {
        text: compose(
          speaker.path === "user" ? "The user's" : `${speaker.display}'s`,
          one,
          "is called",
          name,
        ),
        claim: claimOf(`${speaker.path}/${one} ${name}`, "be called", name),
        importance: 0.8,
        holds: "many",
      }),
    );
  });
}
