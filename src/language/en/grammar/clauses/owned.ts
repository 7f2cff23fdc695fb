import type { Claim } from "../../../../domain/memory.ts";
import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import { toCanonicalThing } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { ANIMALS, FEMALE, KIN, MALE } from "../words/lexicon.ts";
import { isByAge, isPersonNoun } from "../words/persons.ts";
import type { Discourse, Entity } from "./entity.ts";

interface Gathered {
  /** Who is called what. */
  readonly namings: readonly Claim[];
  /** Lower case. */
  readonly subjects: ReadonlySet<string>;
}

const gatherings = new WeakMap<readonly Claim[], Gathered>();

/** What is asked of known claims again and again in one message; they can be thousands. */
export function gathered(known: readonly Claim[]): Gathered {
  let held = gatherings.get(known);
  if (!held) {
    const subjects = new Set(known.map(({ subject }) => subject.toLowerCase()));
    held = { namings: known.filter(({ relation }) => relation === "be called"), subjects };
    gatherings.set(known, held);
  }
  return held;
}

/** A second colleague with another name is not the first one. */
export function distinct(entity: Entity, known: readonly Claim[]): Entity {
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
function meetsName(one: string, other: string): boolean {
  if (hasSameWords(one, other)) return true;
  const a = one.toLowerCase().split(/\s+/);
  const b = other.toLowerCase().split(/\s+/);
  return a.every((word) => b.includes(word)) || b.every((word) => a.includes(word));
}

/** `written` is the thing with its capitals: "Fiat Panda". */
export function owned(
  owner: Entity,
  thing: string,
  name: string | undefined,
  written: string = thing,
): Entity {
  // "parents-in-law" are parents.
  const head = (thing.split(" ").at(-1) ?? thing).replace(/-in-law$/, "");
  const one = toSingular(head);
  const female = FEMALE.has(one) || FEMALE.has(thing);
  const male = MALE.has(one) || MALE.has(thing);
  const animate =
    female ||
    male ||
    isPersonNoun(one) ||
    ANIMALS.has(one) ||
    KIN.has(one) ||
    toCanonicalThing(one) === "child" ||
    one === "pet" ||
    isByAge(thing) ||
    name !== undefined;
  const display = `${possessive(owner.display)} ${written}`;
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
  const isPlural = /^[a-z]/.test(last) && toSingular(last) !== last;
  return isPlural || (/s$/.test(display) && !/ /.test(display)) ? `${display}'` : `${display}'s`;
}

/** A person or thing by name: one that is known under it, or itself. */
export function named(self: Discourse, known: readonly Claim[], name: string): Entity {
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
      // One of "my twins" is one.
      plural: false,
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
