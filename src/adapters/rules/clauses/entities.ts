import { singular } from "../../../domain/english.ts";
import type { Claim } from "../../../domain/memory.ts";
import { canonicalThing } from "../../../domain/relations.ts";
import { sameWords } from "../../../domain/words.ts";
import { isKindName } from "../words/kind-names.ts";
import { ANIMALS, FEMALE, FIRST_PERSON, KIN, MALE } from "../words/lexicon.ts";
import { isName, type Noun, nounOf } from "../words/nouns.ts";
import { isByAge, isPersonNoun } from "../words/persons.ts";
import type { Token } from "../words/token.ts";

/** Somebody or something that was spoken of. */
export interface Entity {
  /** As in claims: `user`, `user/sister`, `Yusuf`. */
  readonly path: string;
  /** For a sentence: "The user", "The user's sister Petra". */
  readonly display: string;
  /** A name given with it: "my sister NADIA". */
  readonly name?: string;
  readonly gender?: "female" | "male";
  readonly animate: boolean;
  readonly plural: boolean;
}

/** Who was spoken of so far, and who "she" is. */
export interface Discourse {
  /** `user`, or the name of the one who speaks. */
  readonly speaker: Entity;
  /** Who or what a noun phrase names; undefined for what is nobody's ("a man", "nothing"). */
  resolve(tokens: readonly Token[], from: number, to: number): Entity | undefined;
  mention(entity: Entity): void;
  /** The last one spoken of that a pronoun can mean. */
  meantBy(pronoun: string): Entity | undefined;
}

/** Adjectives that tell nothing apart: "my new phone" is "my phone". */
const ORNAMENTS = new Set(
  "own new old dear poor lovely current beloved little big sweet dumb stupid cute actual very whole entire beautiful wonderful amazing crazy annoying grumpy trusty battered shiny brand-new lazy silly fancy precious darling gorgeous fluffy chubby rescue baby brand upcoming next first-ever good great".split(
    " ",
  ),
);

/** "current account", "baby shower": words that are one with the next. */
function isCompound(token: Token, next: Token | undefined): boolean {
  const pair = `${token.lower} ${next?.lower ?? ""}`;
  return /^(?:current account|baby (?:shower|monitor|name|sitter)|new year|big day|great (?:aunt|uncle|grand\w+)|rescue (?:centre|center|remedy)|first aid)/.test(
    pair,
  );
}

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
  const mentions: Entity[] = [];
  let before: readonly Entity[] | undefined;

  const meantBy = (pronoun: string): Entity | undefined => {
    for (let i = mentions.length - 1; i >= 0; i -= 1) {
      const entity = mentions[i];
      if (entity && agrees(entity, pronoun)) return entity;
    }
    before ??= earlier();
    return before.findLast((entity) => agrees(entity, pronoun));
  };

  const self: Discourse = {
    speaker,
    meantBy,
    mention(entity) {
      if (entity.path !== speaker.path) mentions.push(entity);
    },
    resolve(tokens, from, to) {
      return resolved(self, known(), tokens, from, to);
    },
  };
  return self;
}

function agrees(entity: Entity, pronoun: string): boolean {
  if (/^(?:they|them|their|theirs)$/.test(pronoun))
    return entity.plural || (entity.animate && entity.gender === undefined);
  if (entity.plural) return false;
  if (/^(?:she|her|hers)$/.test(pronoun)) return entity.animate && entity.gender !== "male";
  if (/^(?:he|him|his)$/.test(pronoun)) return entity.animate && entity.gender !== "female";
  return entity.gender === undefined && !isHuman(entity);
}

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
  if (slice.length === 1 && /^(?:mine|ours)$/.test(first.lower)) return sameOfSpeaker(self);
  if (slice.length === 1 && first.class === "pronoun") return self.meantBy(first.lower);
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
  const entity = resolved(self, known, tokens, ...noun);
  if (!entity || !isName(tokens, ...name)) return entity;
  const called = textOf(tokens, name).replace(/,$/, "");
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
  const tail = `${joint.lower} ${textOf(tokens, [from + 1, to])}`;
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
  const other = self.meantBy("it") ?? self.meantBy("she") ?? self.meantBy("he");
  const thing = other?.path.includes("/") ? other.path.split("/").at(-1) : undefined;
  return thing === undefined ? undefined : owned(self.speaker, thing, undefined);
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
  if (/^(?:one|some|most|all|both|two|three|half|part)$/.test(head)) {
    const path = owner.path.split("/");
    const last = path.pop() ?? "";
    return { ...owner, path: [...path, singular(last)].join("/") };
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
  const name = noun.name ? textOf(tokens, noun.name) : undefined;
  const head = headWord(tokens, noun);
  if (owner) return head === "" ? undefined : distinct(owned(owner, head, name), known);
  const isKin = KIN.has(head) && noun.words.length === 1;
  const isCalled = (name: string): boolean =>
    gathered(known).namings.some(({ value }) => sameWords(value, name));
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
    return named(self, known, textOf(tokens, span));
  }
  const isThe = noun.determiner === "the";
  if (!isKin && !(isThe && head !== "" && !COMMON_THINGS.has(head)))
    return bareThing(self, known, noun, head);
  const entity = owned(self.speaker, head, name);
  if (!isThe) return entity;
  return { ...entity, display: name ? `The ${head} ${name}` : `The ${head}` };
}

/** With "the" they are everybody's, and not the speaker's own. */
const COMMON_THINGS = new Set(
  "one guy man woman thing whole same other only weather world internet government news sun rain problem point idea fact way rest best worst".split(
    " ",
  ),
);

interface Gathered {
  /** Who is called what. */
  readonly namings: readonly Claim[];
  /** Lower case. */
  readonly subjects: ReadonlySet<string>;
}

const gatherings = new WeakMap<readonly Claim[], Gathered>();

/** What is asked of known claims again and again in one message; they can be thousands. */
function gathered(known: readonly Claim[]): Gathered {
  let held = gatherings.get(known);
  if (!held) {
    const subjects = new Set(known.map(({ subject }) => subject.toLowerCase()));
    held = { namings: known.filter(({ relation }) => relation === "be called"), subjects };
    gatherings.set(known, held);
  }
  return held;
}

/** "yoga class got moved": a bare noun means what is known under it. */
function bareThing(self: Discourse, known: readonly Claim[], noun: Noun, head: string): Entity | undefined {
  if (noun.determiner !== undefined || noun.possessive !== undefined || head === "") return undefined;
  const path = `${self.speaker.path}/${head}`.toLowerCase();
  // "name's Delphine"
  if (head === "name") return owned(self.speaker, head, undefined);
  return gathered(known).subjects.has(path) ? owned(self.speaker, head, undefined) : undefined;
}

/** "the capital of France": of the world, not of somebody's life. */
function isPlaceName(tokens: readonly Token[], from: number, to: number): boolean {
  return tokens
    .slice(from, to)
    .some(({ tags }) => tags.has("Place") || tags.has("Country") || tags.has("City"));
}

/** A second colleague with another name is not the first one. */
function distinct(entity: Entity, known: readonly Claim[]): Entity {
  if (entity.name === undefined) return entity;
  const { name } = entity;
  const called = gathered(known).namings.filter(
    ({ subject }) => subject === entity.path || subject.startsWith(`${entity.path} `),
  );
  const same = called.find((claim) => meetsName(claim.value, name));
  if (same) return { ...entity, path: same.subject };
  if (
    called.length === 0 ||
    (!isPersonNoun(entity.path.split("/").at(-1) ?? "") && !MANY_KIN.has(entity.path.split("/").at(-1) ?? ""))
  )
    return entity;
  return { ...entity, path: `${entity.path} ${name}` };
}

const MANY_KIN = new Set(
  "sister brother aunt uncle cousin niece nephew son daughter dog cat horse friend".split(" "),
);

/** Whether one name is the other or its beginning: "Yusuf" and "Yusuf Demir". */
export function meetsName(one: string, other: string): boolean {
  if (sameWords(one, other)) return true;
  const a = one.toLowerCase().split(/\s+/);
  const b = other.toLowerCase().split(/\s+/);
  return a.every((word) => b.includes(word)) || b.every((word) => a.includes(word));
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
    : distinct(owned(owner, head, part.name ? textOf(tokens, part.name) : undefined), known);
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
  if (KIN.has(last) || noun.determiner === "the") return owned(self.speaker, last, undefined);
  return isName(tokens, from, to) ? named(self, known, textOf(tokens, [from, to])) : undefined;
}

/** The noun that a phrase is about, with what tells it apart: "driving test", "favourite book". Lower case. */
export function headWord(tokens: readonly Token[], noun: Noun): string {
  const all = noun.words.flatMap((i) => tokens[i] ?? []);
  const words = all
    .filter(
      (token, i) => i === all.length - 1 || !ORNAMENTS.has(token.lower) || isCompound(token, all[i + 1]),
    )
    .filter((token) => token.class !== "adverb" && token.class !== "number")
    .map((token) => token.word.toLowerCase());
  // "old phone" keeps its phone; of a long row of words the last three tell enough.
  return words.slice(-3).join(" ");
}

function owned(owner: Entity, thing: string, name: string | undefined): Entity {
  const head = thing.split(" ").at(-1) ?? thing;
  const one = singular(head);
  const female = FEMALE.has(one) || FEMALE.has(thing);
  const male = MALE.has(one) || MALE.has(thing);
  const animate =
    female ||
    male ||
    isPersonNoun(one) ||
    ANIMALS.has(one) ||
    KIN.has(one) ||
    canonicalThing(one) === "child" ||
    one === "pet" ||
    isByAge(thing) ||
    name !== undefined;
  const display = `${possessive(owner.display)} ${thing}`;
  const isPlural = one !== head && !/(?:ss|us|is)$/.test(head);
  return {
    path: `${owner.path}/${thing}`,
    display: name === undefined ? display : `${display} ${name}`,
    ...(name === undefined ? {} : { name }),
    ...(female ? { gender: "female" as const } : male ? { gender: "male" as const } : {}),
    animate: animate && one !== "name",
    plural: isPlural,
  };
}

function possessive(display: string): string {
  const last = display.split(" ").at(-1) ?? "";
  const isPlural = /^[a-z]/.test(last) && singular(last) !== last;
  return isPlural || (/s$/.test(display) && !/ /.test(display)) ? `${display}'` : `${display}'s`;
}

/** A person or thing by name: one that is known under it, or itself. */
function named(self: Discourse, known: readonly Claim[], name: string): Entity {
  const before = gathered(known).namings.find(
    (claim) => meetsName(claim.value, name) && claim.subject !== self.speaker.path,
  );
  if (before) {
    const path = before.subject;
    const last = path.split("/").at(-1) ?? "";
    const owner = path.startsWith("user/") ? "The user's" : `${path.split("/")[0]}'s`;
    const entity = owned(
      { path: path.split("/").slice(0, -1).join("/"), display: owner, animate: true, plural: false },
      last,
      name,
    );
    return {
      ...entity,
      path,
      display: `${owner} ${last.replace(new RegExp(`\\s${escaped(name)}$`), "")} ${name}`.replace(
        /\s+/g,
        " ",
      ),
    };
  }
  return { path: name, display: name, name, animate: true, plural: false };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The words of a span, as they stand, joined by single spaces. */
export function textOf(tokens: readonly Token[], [from, to]: readonly [number, number]): string {
  const parts: string[] = [];
  for (let i = from; i < to; i += 1) {
    const token = tokens[i];
    if (!token) continue;
    const glue = i > from && tokens[i - 1]?.end === token.start && tokens[i - 1]?.after === "" ? "" : " ";
    const inner = i < to - 1 ? token.after.trimEnd() : "";
    parts.push(
      `${i > from ? glue : ""}${token.word}${token.owner && i < to - 1 ? "'s" : ""}${/^[-/]$/.test(inner) ? inner : ""}`,
    );
  }
  return parts
    .join("")
    .replace(/([-/]) /g, "$1")
    .trim();
}
