import type { Claim } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ClaimPattern } from "../../../ports/language/vocabulary.ts";

/** A state of a person, the claims that express it, and the states that end when it begins. */
interface StateRow {
  readonly state: string;
  /** "relation" or "relation: values", the values as alternatives of a pattern over the whole value. */
  readonly claims: readonly string[];
  /** People whom one has only in this state: "wife" stands for every claim about `user/wife`. */
  readonly roles?: string;
  /** One can be in it with several: who is meant must be named. */
  readonly isMany?: true;
  readonly ends: readonly string[];
  readonly example: StateExample;
}

/** What was said, what is said now, and a word that no current memory holds then: a test runs each. */
interface StateExample {
  readonly before: string;
  readonly says: string;
  readonly gone: string;
}

const MEAT =
  "meat|red meat|beef|pork|chicken|lamb|bacon|ham|steaks?|sausages?|burgers?|turkey|poultry|duck|venison|salami|veal|mince";
const FISH =
  "fish|seafood|salmon|tuna|cod|prawns?|shrimps?|sushi|shellfish|mussels?|oysters?|trout|anchov(?:y|ies)";
const ANIMAL_FOOD = "dairy|cheese|milk|eggs?|butter|yogh?urt|cream|honey";
const ALCOHOL = "alcohol|wine|beer|gin|whisk(?:e)?y|rum|vodka|cider|cocktails?|spirits|(?:a )?pints?";

/** How much of a food: "some fish", "fish now and then". */
const some = (foods: string): string =>
  `(?:some |a bit of |a little |lots of |any )?(?:red |white |a )?(?:${foods})(?: .*)?`;

/** The states that exclude each other. The newest word wins. */
export const STATES: readonly StateRow[] = [
  {
    state: "single",
    claims: ["be: single(?: again)?|unattached"],
    ends: ["together", "engaged", "married"],
    example: { before: "I'm in a relationship.", says: "I'm single again.", gone: "relationship" },
  },
  {
    state: "together",
    claims: [
      "be in: a relationship.*",
      "be in a relationship",
      "be in a relationship with",
      "date",
      "go out with",
      "be together with",
      "have: (?:a|an) (?:new )?(?:boyfriend|girlfriend|partner|bf|gf)",
    ],
    roles: "boyfriend|girlfriend|partner",
    ends: ["single"],
    example: { before: "I'm single.", says: "I'm dating Paul.", gone: "single" },
  },
  {
    state: "engaged",
    claims: ["be: engaged", "be engaged to", "have: a fianc(?:e|é)e?"],
    roles: "fianc(?:e|é)e?",
    ends: ["single", "married", "divorced", "widowed"],
    example: { before: "I'm single.", says: "We got engaged.", gone: "single" },
  },
  {
    state: "married",
    claims: ["be: (?:happily )?(?:re)?married", "be married to", "have: a (?:wife|husband|spouse)"],
    roles: "wife|husband|spouse",
    ends: ["single", "engaged", "divorced", "widowed", "separated"],
    example: { before: "I'm engaged to Tomas.", says: "We got married.", gone: "engaged" },
  },
  {
    state: "separated",
    claims: ["be: separated"],
    ends: ["married", "engaged", "together"],
    example: { before: "I'm married to Jo.", says: "I'm separated.", gone: "married" },
  },
  {
    state: "divorced",
    claims: ["be: divorced|(?:a )?divorcee?"],
    ends: ["married", "engaged", "separated"],
    example: { before: "I'm married.", says: "I'm divorced now.", gone: "married" },
  },
  {
    state: "widowed",
    claims: ["be: widowed|a widow(?:er)?"],
    ends: ["married", "engaged"],
    example: { before: "I'm married.", says: "I'm a widow.", gone: "married" },
  },
  {
    state: "friends",
    claims: ["be friends with"],
    roles: "best friend|friend|bestie|best mate",
    isMany: true,
    ends: [],
    example: {
      before: "My best friend is Priya.",
      says: "Priya and I aren't friends anymore.",
      gone: "Priya",
    },
  },
  {
    state: "vegan",
    claims: ["be: (?:a )?vegan"],
    ends: ["vegetarian", "pescatarian", "eats meat", "eats fish", "eats animal food"],
    example: { before: "I'm vegetarian.", says: "I'm vegan.", gone: "vegetarian" },
  },
  {
    state: "vegetarian",
    claims: ["be: (?:a )?(?:vegetarian|veggie)"],
    ends: ["vegan", "pescatarian", "eats meat", "eats fish"],
    example: { before: "I eat meat.", says: "I'm vegetarian.", gone: "meat" },
  },
  {
    state: "pescatarian",
    claims: ["be: (?:a )?pescatarian"],
    ends: ["vegan", "vegetarian", "eats meat"],
    example: { before: "I'm vegan.", says: "I'm pescatarian.", gone: "vegan" },
  },
  {
    state: "eats meat",
    claims: [`eat: ${some(MEAT)}`],
    ends: ["vegan", "vegetarian", "pescatarian"],
    example: { before: "I'm vegetarian.", says: "I eat meat.", gone: "vegetarian" },
  },
  {
    state: "eats fish",
    claims: [`eat: ${some(FISH)}`],
    ends: ["vegan", "vegetarian"],
    example: { before: "I'm vegetarian.", says: "I eat fish.", gone: "vegetarian" },
  },
  {
    state: "eats animal food",
    claims: [`eat: ${some(ANIMAL_FOOD)}`, `drink: ${some("milk")}`],
    ends: ["vegan"],
    example: { before: "I'm vegan.", says: "I eat cheese.", gone: "vegan" },
  },
  {
    state: "teetotal",
    claims: [`not drink: (?:alcohol.*)?`, "be: (?:a )?teetotal(?:l?er)?|sober"],
    ends: ["drinks"],
    example: { before: "I drink wine.", says: "I'm teetotal.", gone: "wine" },
  },
  {
    state: "drinks",
    claims: [`drink: ${some(ALCOHOL)}`],
    ends: ["teetotal"],
    example: { before: "I don't drink alcohol.", says: "I drink wine.", gone: "not drink" },
  },
  {
    state: "smokes",
    claims: ["smoke: .*", "be: a (?:heavy |chain |light |regular )?smoker"],
    ends: ["smokes not"],
    example: { before: "I'm a non-smoker.", says: "I smoke.", gone: "non-smoker" },
  },
  {
    state: "smokes not",
    claims: ["not smoke: .*", "be: a (?:non-?|ex-?)smoker"],
    ends: ["smokes"],
    example: { before: "I smoke.", says: "I don't smoke.", gone: "user smokes" },
  },
  {
    state: "employed",
    claims: ["work at", "work as"],
    ends: ["unemployed", "job hunting"],
    example: { before: "I'm unemployed.", says: "I work at Siemens.", gone: "unemployed" },
  },
  {
    state: "unemployed",
    claims: ["be: (?:unemployed|jobless|out of work|between jobs)", "be out of: work", "be between: jobs"],
    ends: ["employed", "retired"],
    example: { before: "I work at Siemens.", says: "I'm unemployed.", gone: "Siemens" },
  },
  {
    state: "retired",
    claims: ["be: retired|a (?:retiree|pensioner)"],
    ends: ["employed", "unemployed", "job hunting"],
    example: { before: "I work as a plumber.", says: "I'm retired.", gone: "plumber" },
  },
  {
    state: "job hunting",
    claims: [
      "(?:look|search|hunt) for: (?:a |some )?(?:new |another |better )?(?:job|work|position)s?",
      "be: job[- ]hunting",
    ],
    ends: [],
    example: { before: "I'm job hunting.", says: "I work at Siemens.", gone: "hunting" },
  },
  {
    state: "student",
    claims: ["study", "study at", "be: an? (?:[\\p{L}-]+ ){0,2}student"],
    ends: ["graduate"],
    example: { before: "I'm a graduate.", says: "I study law.", gone: "graduate" },
  },
  {
    state: "graduate",
    claims: ["be: a graduate"],
    ends: [],
    example: { before: "I'm a graduate.", says: "I study law.", gone: "graduate" },
  },
  {
    state: "pregnant",
    claims: [
      "be: pregnant|expecting",
      "expect: (?:a|our|my|their).* (?:baby|child|twins)",
      "expect: a baby|twins",
    ],
    ends: [],
    example: { before: "I'm pregnant.", says: "I gave birth on Sunday.", gone: "is pregnant" },
  },
  {
    state: "lives alone",
    claims: [
      "live: (?:alone|by (?:my|them)sel(?:f|ves)|on (?:my|their) own)",
      "live alone",
      "live by: (?:my|them)self",
      "live on: (?:my|their) own",
    ],
    ends: ["lives with"],
    example: { before: "I live with Carla.", says: "I live alone.", gone: "Carla" },
  },
  {
    state: "lives with",
    claims: ["live with"],
    ends: ["lives alone"],
    example: { before: "I live alone.", says: "I live with Carla.", gone: "alone" },
  },
];

/** Relations that say that somebody likes a thing, and those that say that they do not. */
const LIKING: readonly string[] = [
  "like",
  "love",
  "enjoy",
  "be into",
  "be a fan of",
  "adore",
  "prefer",
  "be obsessed with",
  "be keen on",
  "be fond of",
];
const DISLIKING: readonly string[] = [
  "hate",
  "dislike",
  "cannot stand",
  "be sick of",
  "be fed up with",
  "be tired of",
  ...LIKING.map((relation) => `not ${relation}`),
];

const TASTES: ReadonlyMap<string, boolean> = new Map([
  ...DISLIKING.map((relation) => [relation, false] as const),
  ...LIKING.map((relation) => [relation, true] as const),
]);

/** What is not so any more of who has died. */
const OF_THE_LIVING: readonly string[] =
  "be aged|live in|live at|live with|live on|live near|work at|work as|work in|be married to|weigh".split(
    "|",
  );

/**
 * Attributes that say the same as a relation of their owner: `user/address` `be` and `user` `live at`. One value replaces the other.
 */
const ATTRIBUTES: readonly (readonly [noun: string, relations: readonly string[]])[] = [
  ["address|home address", ["live at", "live on"]],
  ["age", ["be aged"]],
  ["weight", ["weigh"]],
  ["salary|wage|pay|income", ["earn"]],
  ["employer", ["work at"]],
  ["job|job title|occupation|profession", ["work as"]],
  ["wife|husband|spouse", ["be married to"]],
  ["fiance|fiancee|fiancé|fiancée", ["be engaged to"]],
  ["provider|network", ["be with"]],
  ["bank", ["bank with"]],
];

/** Words that mark a statement as new and tell no circumstance of it. */
const PASSING =
  /^(?:(?:right |only |just |but |not )?(?:now|again|any ?more|any longer|these days|nowadays|currently|at the moment|lately|at all|actually|really|after all|so much|instead|too|(?:very|a) (?:much|lot|bit)|since .*|after .*|because .*|as of .*|last .*|this (?:week|month|year|morning)))+$/i;

interface ClaimForm {
  readonly relation: string;
  readonly value: RegExp | undefined;
}

const FORMS: ReadonlyMap<string, readonly ClaimForm[]> = new Map(
  STATES.map(({ state, claims }) => [state, claims.flatMap(readForms)]),
);
const ROWS: ReadonlyMap<string, StateRow> = new Map(STATES.map((row) => [row.state, row]));
const ROLES: ReadonlyMap<string, RegExp> = new Map(
  STATES.flatMap(({ state, roles }) =>
    roles ? [[state, new RegExp(`^(?:${roles})(?: \\p{Lu}.*)?$`, "u")]] : [],
  ),
);
const STATES_BY_RELATION = new Map<
  string,
  { readonly state: string; readonly value: RegExp | undefined }[]
>();
for (const [state, forms] of FORMS)
  for (const { relation, value } of forms) {
    const states = STATES_BY_RELATION.get(relation) ?? [];
    states.push({ state, value });
    STATES_BY_RELATION.set(relation, states);
  }

/** "(?:look|search) for: a job" is two forms. */
function readForms(text: string): ClaimForm[] {
  const [, relation = text, value] = /^(.+?): (.*)$/.exec(text) ?? [];
  const alternatives = /^\(\?:(?<words>[^)]+)\)(?<rest>.*)$/.exec(relation)?.groups;
  const relations = alternatives
    ? (alternatives.words ?? "").split("|").map((word) => word + (alternatives.rest ?? ""))
    : [relation];
  return relations.map((name) => ({
    relation: name,
    value: value === undefined ? undefined : new RegExp(`^(?:${value})$`, "iu"),
  }));
}

/** The states that a claim expresses, and whose they are. */
export function listStates({
  subject,
  relation,
  value,
}: Claim): { readonly owner: string; readonly state: string }[] {
  const own = (STATES_BY_RELATION.get(relation) ?? []).flatMap(({ state, value: values }) =>
    values === undefined || values.test(value) ? [{ owner: subject, state }] : [],
  );
  const slash = subject.lastIndexOf("/");
  if (slash < 0 || (relation !== "be called" && relation !== "be")) return own;
  const [owner, role] = [subject.slice(0, slash), subject.slice(slash + 1)];
  for (const [state, roles] of ROLES) if (roles.test(role)) own.push({ owner, state });
  return own;
}

/** Whether nobody is in both states at once. */
export function areExclusive(one: string, other: string): boolean {
  return ROWS.get(one)?.ends.includes(other) === true || ROWS.get(other)?.ends.includes(one) === true;
}

/** Whether one can be in a state with several people. */
export function isSharedWithMany(state: string): boolean {
  return ROWS.get(state)?.isMany === true;
}

/** The claims of a person that express a state, with what is known of whom they have only in that state. */
export function listClaimsOfState(owner: string, state: string): ClaimPattern[] {
  const roles = ROLES.get(state);
  const own: ClaimPattern[] = (FORMS.get(state) ?? []).map(({ relation, value }) => ({
    subject: owner,
    relation,
    ...(value ? { fits: (claim) => value.test(claim.value) } : {}),
  }));
  if (roles) own.push({ fits: ({ subject }) => isRoleOf(subject, owner, roles) });
  return own;
}

function isRoleOf(subject: string, owner: string, roles: RegExp): boolean {
  if (!subject.startsWith(`${owner}/`)) return false;
  const [role = ""] = subject.slice(owner.length + 1).split("/");
  return roles.test(role);
}

/** The claims that end when a newer one is made, besides other values of the same slot. */
export function listExcluded(claim: Claim): ClaimPattern[] {
  const { subject, relation } = claim;
  if (relation === "die") return OF_THE_LIVING.map((other) => ({ subject, relation: other }));
  return [...listStateConflicts(claim), ...listOpposites(claim), ...listSameAttributes(claim)];
}

function listStateConflicts(claim: Claim): ClaimPattern[] {
  return listStates(claim).flatMap(({ owner, state }) =>
    (ROWS.get(state)?.ends ?? []).flatMap((other) => listClaimsOfState(owner, other)),
  );
}

/** "hate mushrooms" for "love mushrooms", "eat fish" for "not eat fish". A circumstance limits a statement: then nothing ends. */
function listOpposites({ subject, relation, value, qualifier }: Claim): ClaimPattern[] {
  if (qualifier && !PASSING.test(qualifier)) return [];
  const taste = toTaste(relation, value);
  const others = taste
    ? toTasteClaims(taste.isLiking ? DISLIKING : LIKING, taste.thing)
    : [{ relation: toNegation(relation), value }, ...(toResumed(relation, value) ?? [])];
  return [...others, ...listReversed(relation, value)].map((other) => ({ subject, ...other }));
}

interface Said {
  readonly relation: string;
  readonly value: string;
}

function toNegation(relation: string): string {
  return relation.startsWith("not ") ? relation.slice(4) : `not ${relation}`;
}

/** "love jazz", and "love swimming", whose relation holds the gerund. */
function toTaste(relation: string, value: string): { isLiking: boolean; thing: string } | undefined {
  const [, taste = "", doing = ""] = /^(.+?)(?: (\S+ing(?: .*)?))?$/.exec(relation) ?? [];
  const isLiking = TASTES.get(taste);
  const thing = [doing, value].filter(Boolean).join(" ");
  return isLiking === undefined || thing === "" ? undefined : { isLiking, thing };
}

function toTasteClaims(relations: readonly string[], thing: string): Said[] {
  const [doing = "", ...rest] = thing.split(" ");
  return relations.flatMap((relation) => [
    { relation, value: thing },
    ...(doing.endsWith("ing") ? [{ relation: `${relation} ${doing}`, value: rest.join(" ") }] : []),
  ]);
}

/** "start drinking" again ends "not drink". */
function toResumed(relation: string, value: string): Said[] | undefined {
  const [doing = "", ...rest] = value.split(" ");
  if (!/^(?:start|begin|resume|take up)$/.test(relation) || !doing.endsWith("ing")) return undefined;
  return [{ relation: `not ${toBaseForm(doing)}`, value: rest.join(" ") }];
}

/** "prefer tea to coffee" for "prefer coffee over tea". */
function listReversed(relation: string, value: string): Said[] {
  const [, one, other] = (relation === "prefer" && /^(.+?) (?:over|to|rather than) (.+)$/.exec(value)) || [];
  if (one === undefined || other === undefined) return [];
  return ["over", "to", "rather than"].map((than) => ({ relation, value: `${other} ${than} ${one}` }));
}

/** Whether two relations to the same thing exclude each other: "like" and "hate", "eat" and "not eat". */
export function areOpposed(one: string, other: string): boolean {
  const [mine, theirs] = [toTaste(one, "it"), toTaste(other, "it")];
  if (mine && theirs) return mine.isLiking !== theirs.isLiking;
  return toNegation(one) === other;
}

function listSameAttributes({ subject, relation }: Claim): ClaimPattern[] {
  const slash = subject.lastIndexOf("/");
  const isAttribute = slash > 0 && (relation === "be" || relation === "be called");
  return ATTRIBUTES.flatMap(([nouns, relations]): ClaimPattern[] => {
    if (isAttribute && nouns.split("|").includes(subject.slice(slash + 1)))
      return relations.map((other) => ({ subject: subject.slice(0, slash), relation: other }));
    if (!relations.includes(relation)) return [];
    return nouns
      .split("|")
      .flatMap((noun) =>
        ["be", "be called"].map((other) => ({ subject: `${subject}/${noun}`, relation: other })),
      );
  });
}
