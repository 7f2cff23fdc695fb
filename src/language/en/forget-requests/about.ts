import type { Claim, Memory } from "../../../domain/memory.ts";
import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findExactPhrase, findPhrase } from "../../../domain/text/phrase-index.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import { filterInSlices } from "../../../domain/time-slicing.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isDistinctive } from "../distinctive-words.ts";
import { listAnsweringRelations, listAttributeRelations } from "../relations/relations.ts";
import { type AnswerSources, asked } from "./asked.ts";
import { sameRelatives, stemsMet, stemsOf } from "./kin.ts";
import { ofPerson } from "./of-person.ts";
import { isOtherWord } from "./other-words.ts";

/** What somebody asks to forget, in a form that sentences and memories can be held against. */
export interface About {
  /** The stems that a sentence must all hold to be about it. Never empty. */
  readonly terms: readonly string[];
  /** "my salary", "what car I drive": something of the user's. Else it is a name or a thing by itself. */
  readonly isOwn: boolean;
  /** The words as they stand, lower case: a name to take out of sentences that stay. */
  readonly name: readonly string[];
  /** The same as it was written. */
  readonly said: string;
  /** Its terms that are names. */
  readonly names: readonly string[];
  /** "Mark the plumber", "Ida from work": the name alone, which counts with its capital; the rest only tells which one. */
  readonly person?: string;
  /** The words of each number and code: they count where they stand whole, "350" not in "2,350". */
  readonly numbered: readonly (readonly string[])[];
}

/** Words with which people speak of remembering; they say nothing about what is to be forgotten. */
export const SPEAKING: ReadonlySet<string> = new Set(
  extractTerms(
    "tell told mention mentioned mentioning say said saying know knew talk talked speak spoke ever everything anything " +
      "thing things stuff remember remembered information info details facts please that's regarding concerning related " +
      "entry entries memory memories note notes message messages conversation",
  ),
);
const OWN =
  /^(?:(?:what|which|where|who|whom|when|how|that|if|whether)\b.*\b(?:i|i'm|we|my|our)\b|(?:my|our|i|we)\b|(?:the|any|all the) (?:\p{L}+ ){1,3}?(?:that |which )?(?:i|we) \p{L}+)/iu;
const LEADING =
  /^(?:(?:please|the fact|ever|that|about|anything|everything|all|what)\s+)*(?:(?:i|we)(?:'ve| have| had)?\s+(?:ever\s+)?(?:mentioned|told you|said|talked|spoke)\s*(?:about|of|to you about)?\s*)?(?:that\s+|about\s+|of\s+)?/i;

/** Nothing where the words name nothing ("that", "it"). */
export function aboutOf(phrase: string): About | undefined {
  const plain = phrase.trim().replace(/[.!?]+$/, "");
  const bare = plain.replace(LEADING, "").trim() || plain;
  const person = PERSON.exec(bare)?.groups?.name;
  const terms = [...new Set(extractTerms(person ?? bare))].filter((term) => !SPEAKING.has(term));
  if (terms.length === 0) return undefined;
  const isOwn = OWN.test(bare) || OWN.test(plain.replace(/^(?:about|that)\s+/i, ""));
  const capitals = new Set(Array.from(bare.matchAll(CAPITAL), ([name]) => splitWords(name).map(stem)).flat());
  return {
    terms,
    isOwn,
    name: isOwn ? [] : splitWords(person ?? bare),
    said: person ?? bare,
    names: terms.filter((term) => capitals.has(term)),
    ...(person === undefined ? {} : { person }),
    numbered: Array.from((person ?? bare).matchAll(NUMBERED), ([token]) => splitWords(token)),
  };
}

const NUMBERED = /(?<!\S)\S*\p{N}\S*/gu;

/** Whether all numbers and codes that were named stand in a text, each as a whole. */
export function holdsNumbers(text: string, { numbered }: About): boolean {
  return numbered.every((run) => findPhrase(text, run).length > 0);
}

const CAPITAL = /\p{Lu}[\p{L}\p{N}'’-]*/gu;
const PERSON =
  /^(?<name>\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+)*),?\s+(?:(?:the|my|our|his|her|their|a|an)\s+\p{Ll}|(?:from|on|in|at|who|of)\s+)/u;

/** "Teo's job": asked for like "my job". */
const NAMED_OWNER = /^\p{Lu}[\p{L}-]*['’]s? \p{Ll}+$/u;

/** Whether a name stands in a text as a name: with its capital, and not as the first word of something else. */
export function holdsName(text: string, name: string): boolean {
  return findExactPhrase(text, name).some(({ start }) => /^\p{Lu}/u.test(text.slice(start)));
}

/** "House move: the van comes at nine": whether the words before the colon name it, so that all that stands behind them is about it. */
export function isHeadedBy(heading: string, { person, terms }: About): boolean {
  if (heading === "") return false;
  if (person !== undefined) return holdsName(heading, person);
  const stems = stemsOf(heading);
  return terms.every((term) => stems.has(term));
}

/** The memories that are about it, and those that hang on them. */
export async function memoriesAbout(
  ports: AnswerSources,
  state: StoredContent,
  phrase: string,
  about: About,
): Promise<Set<Memory>> {
  const isByVerb = isVerbOfOwn(phrase, about);
  const found = new Set(
    await filterInSlices(
      state.memories.values(),
      (memory) => !(isByVerb && memory.claim) && isMeant(state, memory, about),
    ),
  );
  const named = [...found];
  const told = ofPerson(state, phrase);
  for (const memory of told) found.add(memory);
  if (told.length === 0 && (about.isOwn || NAMED_OWNER.test(phrase)))
    for (const memory of await asked(ports, state, phrase)) found.add(memory);
  for (const other of await hangingOn(state, named, about)) found.add(other);
  return found;
}

/** "where I live", "what I like": its only telling word is the verb, which others and other things have too. */
export function isVerbOfOwn(phrase: string, { isOwn, terms }: About): boolean {
  const last = splitWords(phrase.trim().replace(/[.!?]+$/, "")).at(-1) ?? "";
  return isOwn && terms.length === 1 && stem(last) === terms[0] && WHERE.test(phrase);
}

const WHERE = /^(?:what|which|who|where|when|how)\b.*\b(?:i|we) (?:\p{L}+ to )?\p{L}+[.!?]*$/iu;

/** Who a memory can be about without being named in it. */
const SOMEBODY: ReadonlySet<string> = new Set(
  splitWords("user users customer client patient employee person member student").map(stem),
);
/** Nouns that add nothing to what is meant. */
const GENERAL: ReadonlySet<string> = new Set(
  splitWords(
    "preference preferences status situation arrangement arrangements history choice current city town primary main location",
  ).map(stem),
);

/** Whether a memory is what the words describe: they stand in it, in some form, or as the relation that they name. */
function isMeant(state: StoredContent, memory: Memory, about: About): boolean {
  const { claim } = memory;
  const said = [memory.text, claim?.subject, claim?.value, claim?.qualifier].join(" ");
  if (about.person !== undefined) return holdsName(said, about.person);
  if (!holdsNumbers(said, about)) return isQuoted(state, memory, about, stemsOf(said));
  const stems = stemsOf(said);
  const unmet = about.terms.filter((term) => !stems.has(term) && !stemsMet(stems, term));
  if (unmet.length === 0) return isMeantByWords(memory, about);
  if (isQuoted(state, memory, about, stems)) return true;
  // A memory with a claim says by it what it is about: `asked` finds those.
  if (claim || about.names.some((name) => unmet.includes(name))) return false;
  const open = unmet.filter((term) => !SOMEBODY.has(term) && !GENERAL.has(term));
  const isMet = about.terms.some((term) => !unmet.includes(term) && !SOMEBODY.has(term));
  const told = open.filter((term) => !isRelated(memory.text, term));
  // A name that is met stands for the noun beside it: "employer Lidl" of "started at Lidl".
  return open.length > told.length || isMet ? told.length === 0 || isNamedWhole(about, unmet, told) : false;
}

/** Whether a text that holds the words means what they mean: it does not deny it, nor tell it of somebody else. */
function isMeantByWords(memory: Memory, about: About): boolean {
  if (isDenied(memory, about) || about.names.some((name) => isOtherWord(memory.text, name))) return false;
  return !isOfOther(memory.text, about);
}

/** Whether a text has what is asked for as "my …" only as another's: "my sister's boat" is not "my boat". */
export function isOfOther(text: string, { isOwn, terms }: About): boolean {
  if (!isOwn) return false;
  const [thing = ""] = terms.slice(-1);
  const others = Array.from(text.matchAll(OWNED)).filter(({ groups: { owner = "", next = "" } = {} }) => {
    const who = stem(owner.toLowerCase());
    const isNamed = sameRelatives(who).some((one) => terms.includes(one));
    return splitWords(next).map(stem).includes(thing) && !isNamed && !SOMEBODY.has(who);
  });
  return others.length > 0 && others.length >= splitWords(text).filter((word) => stem(word) === thing).length;
}

/** "sister's boat", "sister's old boat". */
const OWNED = /(?<owner>\p{L}[\p{L}-]*)(?:['’]s|(?<=s)['’])(?=\s+(?<next>\p{L}+(?:\s+\p{L}+)?))/giu;

function isNamedWhole({ names }: About, unmet: readonly string[], told: readonly string[]): boolean {
  return (
    names.length > 0 && !names.some((name) => unmet.includes(name)) && told.every((term) => isAttribute(term))
  );
}

/** "does not have access" is not what "the access" means. */
function isDenied({ text, claim }: Memory, { terms }: About): boolean {
  if (claim || terms.some((term) => term === "not")) return false;
  return /\b(?:(?:do|does|did)(?: not|n['’]t) have|has no|have no|had no|never had|lacks?|without)\b/i.test(
    text,
  );
}

/** Of a name: the sentence that the memory came from names it whole, and the memory a part of it. */
function isQuoted(
  { messages }: StoredContent,
  { sources }: Memory,
  about: About,
  stems: ReadonlySet<string>,
): boolean {
  if (about.isOwn || about.names.length !== about.terms.length) return false;
  if (!about.terms.some((term) => stems.has(term))) return false;
  return sources.some(({ message, start, end }) => {
    const content = messages.get(message)?.content ?? "";
    const around = splitSentences(content).filter((one) => one.start < end && start < one.end);
    return around.some((one) => {
      const sentence = content.slice(one.start, one.end);
      const said = stemsOf(sentence);
      return about.terms.every((term) => said.has(term)) && holdsNumbers(sentence, about);
    });
  });
}

function isAttribute(term: string): boolean {
  return attributeOf(term).length > 0;
}

/** The relations of the attribute with this stem: `residence` and `employer` by their nouns. */
function attributeOf(term: string): readonly string[] {
  return NOUNS.get(term) ?? listAttributeRelations(term);
}

/** Nouns of relations that nobody asks with. */
const NOUNS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      ["residence", ["live in", "move to"]],
      ["employer", ["work at", "start at", "join", "move to"]],
      ["workplace", ["work at"]],
      ["diet", ["eat", "follow"]],
      ["dietary", ["eat", "follow"]],
      ["owner", ["own", "oversee", "lead"]],
    ] as const
  ).map(([noun, relations]) => [stem(noun), relations]),
);

/** Whether a text tells a relation of an attribute: "lives in Vienna" tells a residence. */
function isRelated(text: string, term: string): boolean {
  const run = ` ${splitWords(text).map(stem).join(" ")} `;
  return attributeOf(term)
    .flatMap((relation) => [relation, ...listAnsweringRelations(relation)])
    .some(
      (relation) =>
        relation !== "be" &&
        relation !== "have" &&
        run.includes(` ${splitWords(relation).map(stem).join(" ")} `),
    );
}

/**
 * What is said of the one who bears a name, and of the thing that a telling value names. What the bearer has goes too,
 * but not what has a name of its own: "my sister's boat is called Bela" tells of another thing than Alma, the sister.
 */
async function hangingOn(
  { memories }: StoredContent,
  named: readonly Memory[],
  about: About,
): Promise<Memory[]> {
  const claims = named.flatMap(({ claim }) => claim ?? []);
  const values = new Set(
    claims
      .filter((claim) => isDistinctive(claim.value) && namesMeant(claim, about))
      .map(({ value }) => value.toLowerCase()),
  );
  const bearers = new Set(claims.filter(isNaming).map(({ subject }) => subject.toLowerCase()));
  if (values.size + bearers.size === 0) return [];
  const withName = new Set(
    [...memories.values()].flatMap(({ claim }) =>
      claim && isNaming(claim) ? [claim.subject.toLowerCase()] : [],
    ),
  );
  return filterInSlices(memories.values(), ({ claim }) => {
    const parts = claim?.subject.toLowerCase().split("/") ?? [];
    if (parts.some((part) => values.has(part))) return true;
    const owners = parts.map((_part, i) => parts.slice(0, i + 1).join("/"));
    // What has a name of its own is another thing, and so is what it has.
    const nearest = owners.findLast((owner) => withName.has(owner) || bearers.has(owner));
    return nearest !== undefined && bearers.has(nearest);
  });
}

const isNaming = ({ relation }: Claim): boolean => relation === "be called";

/** Whether a value names what is meant: Acme of "my employer"; not of "Alma", who works there. */
function namesMeant({ relation, value }: Claim, { isOwn, terms }: About): boolean {
  return isOwn || NAMINGS.has(relation) || stemsMet(stemsOf(value), terms[0] ?? "");
}

const NAMINGS: ReadonlySet<string> = new Set([
  "be called",
  "be nicknamed",
  "be known as",
  "wish to be called",
]);
