import type { Claim } from "../../../../domain/memory.ts";
import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import { toSingular } from "../../word-forms.ts";
import { ANIMALS, BE, FEMALE, FIRST_PERSON, KIN, MALE } from "../words/lexicon.ts";
import { isNationality } from "../words/nationalities.ts";
import { isName, type Noun, nounOf } from "../words/nouns.ts";
import { isByAge, isPersonNoun } from "../words/persons.ts";
import type { Stretch, Token } from "../words/token.ts";
import type { Discourse, Entity } from "./entity.ts";
import { headAsWritten, headWord, joinSpan } from "./head-words.ts";
import { distinct, gathered, named, owned } from "./owned.ts";

export function speakerEntity(name: string | undefined): Entity {
  return name === undefined
    ? { path: "user", display: "The user", animate: true, plural: false }
    : { path: name, display: name, animate: true, plural: false };
}

/** `earlier` gives what the turns before spoke of, oldest first; it is asked only where a pronoun needs it. */
export function discourse(
  speaker: Entity,
  known: () => readonly Claim[],
  earlier: () => readonly Entity[],
): Discourse {
  const mentions: Mention[] = [];
  let before: readonly Entity[] | undefined;

  const meantBy = (pronoun: string): Entity | undefined => {
    const agreeing = mentions.filter(({ entity }) => agrees(entity, pronoun));
    const nearest = agreeing.findLast(({ isAside }) => !isAside) ?? agreeing.at(-1);
    const meant = ofKnownGender(agreeing, nearest, pronoun) ?? nearest;
    before ??= meant ? before : earlier();
    const entity = meant ? meant.entity : likeliest(before ?? [], pronoun);
    return entity?.path === NOBODYS_THING.path ? undefined : entity;
  };

  const self: Discourse = {
    speaker,
    meantBy,
    told: { of: "speaker" },
    spokenOf: () =>
      mentions
        .toSorted((one, other) => Number(other.isAside) - Number(one.isAside))
        .map(({ entity }) => entity),
    mention(entity, isAside = false) {
      if (entity.path !== speaker.path) mentions.push({ entity, isAside });
    },
    resolve(tokens, from, to) {
      return resolved(self, known(), tokens, from, to);
    },
  };
  return self;
}

/** What was spoken of, and whether only beside something else. */
interface Mention {
  readonly entity: Entity;
  readonly isAside: boolean;
}

/** "The nurse rang about Leo, HE's ill": one of that gender who was mentioned beside the nearest, if the gender of the nearest is unknown. */
function ofKnownGender(
  agreeing: readonly Mention[],
  nearest: Mention | undefined,
  pronoun: string,
): Mention | undefined {
  if (!nearest || !/^s?he$|^h(?:er|ers|im|is)$/.test(pronoun)) return undefined;
  const gender = /^(?:she|her|hers)$/.test(pronoun) ? "female" : "male";
  const isKnown = ({ entity }: Mention): boolean => (entity.gender ?? entity.leaning) === gender;
  if (isKnown(nearest)) return nearest;
  // A subject is mentioned before its objects and once more behind them.
  const isSame = ({ entity }: Mention): boolean => entity.path === nearest.entity.path;
  const end = agreeing.findLastIndex((one) => !isSame(one));
  const start = agreeing.slice(0, Math.max(0, end)).findLastIndex(isSame);
  return start < 0 ? undefined : agreeing.slice(start + 1, end + 1).findLast(isKnown);
}

/** The last that a pronoun can mean; one of that gender before a mere name of which nothing tells it. */
function likeliest(earlier: readonly Entity[], pronoun: string): Entity | undefined {
  const agreeing = earlier.filter((one) => agrees(one, pronoun));
  const last = agreeing.at(-1);
  const gender = /^(?:she|her|hers)$/.test(pronoun) ? "female" : "male";
  const isOpen =
    last !== undefined && !last.path.includes("/") && last.gender === undefined && last.leaning !== gender;
  return (
    (isOpen &&
      /^s?he$|^h(?:er|ers|im|is)$/.test(pronoun) &&
      agreeing.findLast((one) => one.gender === gender)) ||
    last
  );
}

/** "The exam is …": a thing that is nobody's here, and that "it" means all the same. */
export const NOBODYS_THING: Entity = { path: "?", display: "Something", animate: false, plural: false };

function agrees(entity: Entity, pronoun: string): boolean {
  if (/^(?:they|them|their|theirs)$/.test(pronoun)) return entity.plural || isOfNoGender(entity);
  if (entity.plural) return false;
  if (/^(?:she|her|hers)$/.test(pronoun)) return entity.animate && entity.gender !== "male";
  if (/^(?:he|him|his)$/.test(pronoun)) return entity.animate && entity.gender !== "female";
  return entity.gender === undefined && !isHuman(entity);
}

/** "My partner is vegan, they run": one person. In "the mayor says they'll close it", "they" is rather a council or a company. */
function isOfNoGender({ path, display, animate, gender }: Entity): boolean {
  const isOffice = OFFICE.test(path) || /^The (?!user\b)/.test(display);
  return animate && gender === undefined && !isOffice;
}

const OFFICE =
  /(?:^|[/ ])(?:landlord|landlady|mayor|clerk|manager|boss|doctor|gp|surgeon|consultant|dentist|vet|teacher|editor|agent|employer|supplier|solicitor|insurer)$/;

/** Whether it is a person, and no animal. */
export function isHuman(entity: Entity): boolean {
  const last = entity.path.split("/").at(-1) ?? "";
  const head = last.split(" ").at(-1) ?? "";
  return entity.animate && !ANIMALS.has(head);
}

function resolved(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  from: number,
  to: number,
): Entity | undefined {
  const slice = tokens.slice(from, to);
  const first = slice[0];
  const last = slice.at(-1);
  if (!first || !last) return undefined;
  // "Marco and I", "me and my wife"
  if (slice.some(({ lower, class: kind }) => kind === "pronoun" && FIRST_PERSON.has(lower)))
    return self.speaker;
  if (slice.length === 1 && POSSESSED.test(first.lower)) return samePossessed(self, first.lower);
  if (slice.length === 1 && first.class === "pronoun") return self.meantBy(first.lower);
  // "My wife's is a Mini"; "my sister's getting married" is none.
  if (last.owner && BE.has(tokens[to]?.lower ?? "")) return sameOfOwner(self, known, tokens, [from, to]);
  const other = anotherOne(self, slice);
  if (other !== "none") return other;
  const comma = slice.findIndex((token, i) => i < slice.length - 1 && token.after.includes(","));
  if (comma >= 0) return apposed(self, known, tokens, [from, from + comma + 1, to]);
  const of = slice.findIndex(({ lower }) => lower === "of");
  if (of > 0) return ofPhrase(self, known, tokens, from, from + of, to);
  const place = slice.findIndex((token, i) => i > 0 && token.class === "preposition");
  if (place > 0) {
    const entity = resolved(self, known, tokens, from, from + place);
    return entity && withPlace(entity, tokens, from + place, to);
  }
  return nounEntity(self, known, tokens, nounOf(tokens, from, to), [from, to]);
}

/** "Petra, my manager": the manager, who is called Petra. */
function apposed(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  [from, middle, to]: readonly [number, number, number],
): Entity | undefined {
  const isOwnFirst = tokens[from]?.class === "possessive" || tokens[from]?.lower === "the";
  const [noun, name] = isOwnFirst
    ? ([
        [from, middle],
        [middle, to],
      ] as const)
    : ([
        [middle, to],
        [from, middle],
      ] as const);
  // "the younger one, Colm": he bears no other noun.
  if (tokens[middle - 1]?.lower === "one" && isName(tokens, middle, to))
    return named(self, known, joinSpan(tokens, [middle, to]).replace(/,$/, ""));
  const entity = resolved(self, known, tokens, ...noun);
  if (!entity || !isName(tokens, ...name)) return entity;
  const called = joinSpan(tokens, name).replace(/,$/, "");
  return distinct({ ...entity, name: called, animate: true, display: `${entity.display} ${called}` }, known);
}

/** "my flight to Oslo" is not the one to Lisbon: a name behind the noun tells things apart. */
function withPlace(entity: Entity, tokens: readonly Token[], from: number, to: number): Entity {
  const joint = tokens[from];
  const role = roleWith(entity, tokens, from, to);
  if (role) return role;
  if (
    entity.animate ||
    !entity.path.includes("/") ||
    !joint ||
    !/^(?:to|from|with|for)$/.test(joint.lower) ||
    !isName(tokens, from + 1, to)
  )
    return entity;
  const tail = `${joint.lower} ${joinSpan(tokens, [from + 1, to])}`;
  return { ...entity, path: `${entity.path} ${tail}`, display: `${entity.display} ${tail}` };
}

const MEETINGS =
  /^(?:appointment|meeting|call|session|lesson|class|interview|date|check-up|checkup|consultation|lunch|dinner|review)$/;

/** "my appointment with the physio" is the physio appointment. */
function roleWith(entity: Entity, tokens: readonly Token[], from: number, to: number): Entity | undefined {
  const parts = entity.path.split("/");
  const thing = parts.pop() ?? "";
  if (!/^(?:with|at)$/.test(tokens[from]?.lower ?? "") || !MEETINGS.test(thing)) return undefined;
  const noun = nounOf(tokens, from + 1, to);
  const role = headWord(tokens, noun);
  const isOwn = /^(?:the|a|an|my|our)$/.test(noun.determiner ?? noun.possessive ?? "");
  if (role === "" || !isOwn || role.includes(" ")) return undefined;
  const display = entity.display.replace(/\S+$/, `${role} ${thing}`);
  return { ...entity, path: [...parts, `${role} ${thing}`].join("/"), display, animate: false };
}

/** "Ours is called Hare", after the neighbours' tortoise: the speaker's own. */
function sameOfSpeaker(self: Discourse): Entity | undefined {
  const thing = thingSpokenOf(self, ["it", "she", "he"]);
  return thing === undefined ? undefined : owned(self.speaker, thing, undefined);
}

const POSSESSED = /^(?:mine|ours|his|hers|theirs)$/;

/** "Mine", "hers": a thing like the one spoken of. */
function samePossessed(self: Discourse, pronoun: string): Entity | undefined {
  return /^(?:mine|ours)$/.test(pronoun) ? sameOfSpeaker(self) : sameOfPerson(self, pronoun);
}

/** "Hers is at 11", after "my appointment is at 10": her appointment. */
function sameOfPerson(self: Discourse, pronoun: string): Entity | undefined {
  const owner = self.meantBy(pronoun);
  // "the desk" is nobody's: hers may be another thing.
  const isOwn = self.meantBy("it")?.display.startsWith("The user's ") === true;
  const thing = isOwn ? thingSpokenOf(self, ["it"]) : undefined;
  return owner?.animate && thing !== undefined ? owned(owner, thing, undefined) : undefined;
}

/** "My wife's is a Mini", after "my car's a Skoda": her car. */
function sameOfOwner(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  [from, to]: Stretch,
): Entity | undefined {
  const thing = thingSpokenOf(self, ["it"]);
  const bare = tokens.map((token, i) => (i === to - 1 ? { ...token, owner: false } : token));
  const owner = thing === undefined ? undefined : resolved(self, known, bare, from, to);
  return thing === undefined || !owner?.animate ? undefined : owned(owner, thing, undefined);
}

/** "My work one", after "my laptop": the work laptop. */
function anotherOne(self: Discourse, words: readonly Token[]): Entity | undefined | "none" {
  const [first, ...others] = words;
  const isOwn = first?.class === "possessive" && /^(?:my|our)$/.test(first.lower);
  const said = others.map(({ lower }) => lower).join(" ");
  if (!isOwn || others.length < 2 || !/ one$/.test(said) || isByAge(said)) return "none";
  const thing = thingSpokenOf(self, ["it"]);
  return thing === undefined ? undefined : owned(self.speaker, said.replace(/one$/, thing), undefined);
}

/** What somebody's own thing is called that was spoken of last. */
function thingSpokenOf(self: Discourse, pronouns: readonly string[]): string | undefined {
  const [other] = pronouns.flatMap((pronoun) => self.meantBy(pronoun) ?? []);
  const isAnimate = other?.animate && !pronouns.includes("she");
  return other?.path.includes("/") && !isAnimate ? other.path.split("/").at(-1) : undefined;
}

/** "the name of my dog" is the dog's name; "a friend of mine", "one of my brothers" are a friend, a brother. */
function ofPhrase(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  from: number,
  of: number,
  to: number,
): Entity | undefined {
  const next = tokens[of + 1];
  const head = headWord(tokens, nounOf(tokens, from, of));
  if (next?.lower === "mine" || next?.lower === "ours") return owned(self.speaker, head, undefined);
  const owner = resolved(self, known, tokens, of + 1, to);
  if (!owner || isPlaceName(tokens, of + 1, to)) return undefined;
  // "those of my wife", after "my skis": her skis.
  if (/^(?:|that|this|these|those|ones)$/.test(head) && owner.animate && !owner.plural) {
    const same = thingSpokenOf(self, ["it"]) ?? thingSpokenOf(self, ["they"]);
    return same === undefined ? undefined : owned(owner, same, undefined);
  }
  if (/^(?:one|all|both|two|three)$/.test(head)) {
    const path = owner.path.split("/");
    const last = path.pop() ?? "";
    return { ...owner, path: [...path, toSingular(last)].join("/") };
  }
  return owned(owner, head, undefined);
}

function nounEntity(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  noun: Noun,
  span: readonly [number, number],
): Entity | undefined {
  const owner = ownerOf(self, known, tokens, noun);
  const name = noun.name ? joinSpan(tokens, noun.name) : undefined;
  const head = headWord(tokens, noun);
  if (owner)
    return head === "" ? undefined : distinct(owned(owner, head, name, headAsWritten(tokens, noun)), known);
  const isKin = KIN.has(head) && noun.words.length === 1;
  const isCalled = (name: string): boolean =>
    gathered(known).namings.some(({ value }) => hasSameWords(value, name));
  const isBare = noun.determiner === undefined && noun.possessive === undefined && noun.owners.length === 0;
  // "we changed GP": in capitals, but the user's own.
  if (isBare && isPersonNoun(head) && gathered(known).subjects.has(`${self.speaker.path}/${head}`))
    return owned(self.speaker, head, undefined);
  if (
    !isKin &&
    isName(tokens, ...span) &&
    noun.determiner === undefined &&
    !isKindName(tokens, span, isCalled)
  ) {
    return nameEntity(self, known, tokens, span);
  }
  const isThe = noun.determiner === "the";
  if (!isKin && !(isThe && head !== "" && !COMMON_THINGS.has(head)))
    return bareThing(self, known, noun, head);
  const entity = owned(self.speaker, head, name);
  if (!isThe) return entity;
  return { ...entity, display: name ? `The ${head} ${name}` : `The ${head}` };
}

/** A name; "Rotterdam" and "IVF" are no "he" and no "they". */
function nameEntity(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  span: Stretch,
): Entity {
  const entity = named(self, known, joinSpan(tokens, span));
  const words = tokens.slice(...span);
  if (entity.path.includes("/")) return entity;
  if (isNobody(words) || words.every(isCry)) return { ...entity, animate: false };
  const [leaning] = words.flatMap(({ tags }) =>
    tags.has("FemaleName") ? "female" : tags.has("MaleName") ? "male" : [],
  );
  return leaning ? { ...entity, leaning } : entity;
}

/** "I'm DEAD": a word that was shouted, and no name. */
function isCry({ tags, word, class: kind }: Token): boolean {
  const isNamed = kind === "name" || tags.has("FirstName") || tags.has("Person");
  return word.length > 2 && word === word.toUpperCase() && !isNamed;
}

/** A place or an abbreviation. */
function isNobody(words: readonly Token[]): boolean {
  return words.every(
    ({ tags, word }) => tags.has("Place") || (tags.has("Acronym") && word === word.toUpperCase()),
  );
}

/** With "the" they are everybody's, and not the speaker's own. */
const COMMON_THINGS = new Set(
  "one guy man woman thing whole same other only weather world internet government news sun rain problem point idea fact way rest best worst".split(
    " ",
  ),
);

/** "yoga class got moved": a bare noun means what is known under it. */
function bareThing(self: Discourse, known: readonly Claim[], noun: Noun, head: string): Entity | undefined {
  if (noun.determiner !== undefined || noun.possessive !== undefined || head === "") return undefined;
  const path = `${self.speaker.path}/${head}`.toLowerCase();
  // "name's Delphine"
  if (head === "name") return owned(lastIntroduced(self) ?? self.speaker, head, undefined);
  // "waffles ate!!": whoever is called so.
  const isCalled = gathered(known).namings.some(
    ({ value, subject }) => subject.startsWith(`${self.speaker.path}/`) && value.toLowerCase() === head,
  );
  if (isCalled && !gathered(known).subjects.has(path)) return named(self, known, capitalized(head));
  return gathered(known).subjects.has(path) ? owned(self.speaker, head, undefined) : undefined;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "I have a brother in Hanoi, NAME is Duc": the brother's. */
function lastIntroduced(self: Discourse): Entity | undefined {
  const last = self.spokenOf().findLast(({ animate, path }) => animate && path !== self.speaker.path);
  return last?.plural === false && last.name === undefined ? last : undefined;
}

/** "the capital of France": of the world, not of somebody's life. */
function isPlaceName(tokens: readonly Token[], from: number, to: number): boolean {
  return tokens
    .slice(from, to)
    .some(({ tags }) => tags.has("Place") || tags.has("Country") || tags.has("City"));
}

function ownerOf(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  noun: Noun,
): Entity | undefined {
  let owner: Entity | undefined;
  if (noun.possessive !== undefined) {
    owner = /^(?:my|our)$/.test(noun.possessive) ? self.speaker : self.meantBy(noun.possessive);
    if (!owner || noun.possessive === "your") return undefined;
  }
  for (const span of noun.owners) {
    owner = owner
      ? ownedBy(owner, known, tokens, span)
      : (firstOwner(self, known, tokens, noun, span) ?? owner);
  }
  return owner;
}

/** "my flatmate's": the one who belongs to the owner before. */
function ownedBy(
  owner: Entity,
  known: readonly Claim[],
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
): Entity {
  const part = nounOf(tokens, from, to);
  const head = headWord(tokens, part);
  return head === ""
    ? owner
    : distinct(owned(owner, head, part.name ? joinSpan(tokens, part.name) : undefined), known);
}

/** "Ana's", "mum's", "the neighbour's". */
function firstOwner(
  self: Discourse,
  known: readonly Claim[],
  tokens: readonly Token[],
  noun: Noun,
  [from, to]: readonly [number, number],
): Entity | undefined {
  const last = tokens[to - 1]?.lower ?? "";
  // "Daughter's wedding is on Friday": the speaker's.
  const isOwn = from === 0 && !COMMON_PEOPLE.has(last) && (FEMALE.has(last) || MALE.has(last));
  if (KIN.has(last) || isOwn || noun.determiner === "the") return owned(self.speaker, last, undefined);
  return isName(tokens, from, to) ? named(self, known, joinSpan(tokens, [from, to])) : undefined;
}

/** Persons who are nobody's kin. */
const COMMON_PEOPLE = new Set("girl woman lady queen hen mare boy man guy bloke king".split(" "));

/**
 * "Cats have whiskers": a kind of thing, whose capital is the sentence's; "he is Italian", "she speaks Thai": no name
 * either, unless somebody is called so.
 */
function isKindName(
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
  isCalled: (name: string) => boolean,
): boolean {
  const word = tokens[from];
  if (word && to - from === 1 && isNationality(word.lower)) return !isCalled(word.lower);
  if (from !== 0 || to - from !== 1 || word === undefined || word.class !== "noun") return false;
  // "Vet says it's his heart": whoever has that trade.
  if (word.tags.has("Actor") || isPersonNoun(word.lower)) return !isCalled(word.lower);
  if (NAMED.some((tag) => word.tags.has(tag))) return false;
  // "Chess is one of my favourite games" is told of the one who speaks.
  if (tokens.some(({ lower }, at) => at >= to && /^(?:my|our|mine|me|us)$/.test(lower))) return false;
  // A verb of many tells a kind from a name in "-s".
  const verb = tokens[to];
  const isMany =
    word.tags.has("Plural") && verb?.class === "verb" && /^(?:are|were|have|do)$|[^s]$/.test(verb.lower);
  return isMany || word.tags.has("Uncountable");
}

const NAMED = ["ProperNoun", "Person", "FirstName", "LastName", "Place", "Organization"];
