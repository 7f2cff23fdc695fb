import { HOME_RELATIONS } from "./home.ts";
import { PEOPLE_RELATIONS, PERSON_RELATIONS } from "./people.ts";
import { PLANS_RELATIONS } from "./plans.ts";
import { PRIVATE_RELATIONS } from "./private.ts";
import type { RelationArea, RelationRow } from "./relation-row.ts";
import { TASTES_RELATIONS } from "./tastes.ts";
import { THINGS_RELATIONS } from "./things.ts";
import { WORK_RELATIONS } from "./work.ts";

/** Words for the same person or thing; the first of each row is the canonical one. */
const THING_SYNONYMS: readonly (readonly string[])[] = [
  ["mother", "mum", "mom", "mam", "mama", "mummy", "mommy", "ma"],
  ["father", "dad", "daddy", "papa", "pa", "pops"],
  [
    "sister",
    "sis",
    "big sister",
    "little sister",
    "younger sister",
    "older sister",
    "elder sister",
    "twin sister",
    "kid sister",
  ],
  [
    "brother",
    "bro",
    "big brother",
    "little brother",
    "younger brother",
    "older brother",
    "elder brother",
    "twin brother",
    "kid brother",
  ],
  ["grandmother", "grandma", "gran", "granny", "nan", "nana", "nanna", "grannie"],
  ["grandfather", "grandpa", "grandad", "granddad", "gramps"],
  ["dog", "puppy", "pup", "doggo", "pooch", "doggy"],
  ["cat", "kitten", "kitty"],
  ["flat", "apartment"],
  ["house", "home", "place"],
  ["flatmate", "roommate", "housemate", "roomie"],
  ["boss", "manager", "line manager", "supervisor"],
  ["child", "kid"],
  ["boyfriend", "bf"],
  ["girlfriend", "gf"],
  ["partner", "other half", "significant other"],
  ["wife", "missus"],
  ["husband", "hubby"],
  ["spouse", "wife", "husband"],
  ["colleague", "coworker", "co-worker", "workmate", "teammate"],
  ["neighbour", "neighbor"],
  ["friend", "best friend", "mate", "buddy", "pal", "bestie", "best mate"],
  ["doctor", "gp", "physician"],
  ["therapist", "counsellor", "counselor", "psychologist", "shrink"],
  ["dentist", "orthodontist"],
  ["bike", "bicycle"],
  ["medication", "meds", "med", "medicine", "prescription drug"],
  ["vegetable", "veg", "veggie"],
  ["motorbike", "motorcycle"],
  ["car", "motor", "vehicle"],
  [
    "phone number",
    "mobile number",
    "cell number",
    "number",
    "mobile",
    "telephone number",
    "cell",
    "phone no",
  ],
  ["licence plate", "license plate", "number plate", "registration", "registration number"],
  ["email", "email address", "e-mail", "e-mail address", "mail address"],
  ["job", "work"],
  ["wage", "salary", "pay", "income"],
  ["laptop", "computer"],
  ["trainer", "personal trainer", "pt"],
  ["hairdresser", "barber", "stylist", "hairstylist"],
  ["birthday", "date of birth", "bday", "birth date", "birthdate"],
  ["gym", "fitness studio", "fitness club"],
  ["vet", "veterinarian"],
  ["solicitor", "lawyer", "attorney"],
  ["holiday", "vacation", "trip"],
  ["lease", "rental contract", "rent contract"],
  ["autumn", "fall"],
  ["film", "movie"],
  ["sport", "sports"],
  ["teacher", "tutor", "instructor"],
  ["fiance", "fiancé", "fiancee", "fiancée"],
  ["bank", "bank account"],
  ["nickname", "pet name"],
  ["show", "series", "tv show", "tv series"],
  ["football team", "team", "club", "football club"],
  ["color", "colour"],
  ["favorite", "favourite", "fave"],
  ["town", "city", "hometown"],
];

/** More general nouns: a cat is a pet, a wife a partner. Particular -> general. */
const THING_KINDS: Readonly<Record<string, readonly string[]>> = {
  pet: "dog cat rabbit hamster guinea pig parrot budgie tortoise turtle fish goldfish snake lizard gecko ferret rat mouse horse pony hen chicken canary cockatiel hedgehog chinchilla axolotl iguana gerbil spider tarantula bird bunny snail"
    .split(" ")
    .concat("guinea pig", "bearded dragon", "stick insect"),
  dog: "beagle labrador lab poodle terrier spaniel collie retriever dachshund corgi husky pug bulldog greyhound whippet shepherd alsatian boxer schnauzer chihuahua rottweiler dalmatian setter pointer dane mastiff mongrel mutt cockapoo labradoodle cavapoo lurcher vizsla weimaraner akita samoyed malamute pinscher maltese staffie kelpie heeler yorkie".split(
    " ",
  ),
  cat: "siamese persian ragdoll bengal sphynx tabby tortoiseshell tomcat shorthair tom moggy".split(" "),
  partner: ["boyfriend", "girlfriend", "wife", "husband", "fiance", "spouse"],
  sibling: ["brother", "sister", "twin"],
  parent: ["mother", "father"],
  child: ["son", "daughter", "baby", "toddler"],
  relative: ["uncle", "aunt", "cousin", "nephew", "niece", "mother", "father", "brother", "sister"],
  grandparent: ["grandmother", "grandfather"],
  teacher: ["piano teacher", "music teacher", "yoga teacher", "driving instructor", "driving teacher"],
};

/** The properties of a relation: the verb phrase of a claim, in its base form. */
type RelationInfo = Pick<RelationRow, "relation" | "holds" | "kind" | "sensitive">;

/**
 * The relations, one file per area. To add one, add a row to the area that fits. A relation without a row has
 * many values and is a fact. `be` is special: whether it has one value depends on the attribute (see
 * `isSingleValued`).
 */
export const RELATION_AREAS: readonly RelationArea[] = [
  PERSON_RELATIONS,
  HOME_RELATIONS,
  WORK_RELATIONS,
  PEOPLE_RELATIONS,
  THINGS_RELATIONS,
  TASTES_RELATIONS,
  PLANS_RELATIONS,
  PRIVATE_RELATIONS,
];

const ROWS: readonly RelationRow[] = RELATION_AREAS.flatMap(({ relations }) => relations);

/** The table by relation. */
export const RELATIONS: ReadonlyMap<string, RelationRow> = new Map(ROWS.map((row) => [row.relation, row]));

/** The properties of a relation; for an unknown one, a plain fact with many values. */
export function getRelation(relation: string): RelationInfo {
  return RELATIONS.get(relation) ?? { relation, holds: "many", kind: "fact" };
}

const STORED_AS: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(({ relation, also = [] }) => also.map((other) => [other, relation] as const)),
);

/** The name that a relation is stored under. */
export function toCanonicalRelation(relation: string): string {
  return STORED_AS.get(relation) ?? relation;
}

/** The relations that answer a question about this one, starting with itself. */
export function listAnsweringRelations(relation: string): string[] {
  const stored = toCanonicalRelation(relation);
  return [stored, ...(RELATIONS.get(stored)?.answeredBy ?? [])];
}

const NOUNS: ReadonlyMap<string, readonly string[]> = new Map(
  RELATION_AREAS.flatMap(({ nouns }) => Object.entries(nouns)),
);

/** The relations that answer a question about an attribute ("job"); none for an unknown noun. */
export function listAttributeRelations(noun: string): readonly string[] {
  return NOUNS.get(noun) ?? [];
}

/** Attributes with one value at a time: `user/salary` `be` one value. */
const ONE_VALUE =
  /^(?:.*\b(?:number|name|password|email|e-mail|address|birthday|anniversary|salary|rent|wage|income|age|height|weight|size|budget|deadline|appointment|flight|party|wedding|interview|exam|test|meeting|date|type|code|username|handle|postcode|zip|plate|due date|shift|schedule|gym|dentist|doctor|gp|landlord|landlady|therapist|boss|manager|trainer|coach|teacher|tutor|job title|title|role|gate|terminal|seat|score|limit|goal|target|pin|broker|bank|provider|plan|mortgage|pension|insurance|locker|desk|room|floor|mechanic|accountant|lawyer|vet|hairdresser|barber|employer|company|school|university|hometown|nickname|timezone|capacity|price|fee|course|dose|dosage|blood type|prescription)s?|(?:\w+ )*(?:favou?rite|fave|usual|preferred|go-to) .*)$/;

/** Whether `be` of this thing ("salary", "favourite book", "phone number") has one value at a time. */
export function isSingleValued(thing: string): boolean {
  return ONE_VALUE.test(thing.toLowerCase());
}

const ONLY_ONE = new Set(
  "mother father mum dad husband wife spouse partner boyfriend girlfriend fiance fiancee fiancé fiancée mother-in-law father-in-law".split(
    " ",
  ),
);

/** Whether a person has one such thing or relative at a time ("wife", "dentist"), and may not have several ("friend", "cat"). */
export function isOneOfItsKind(noun: string): boolean {
  const thing = toCanonicalThing(noun);
  return ONLY_ONE.has(thing) || ONLY_ONE.has(noun.toLowerCase()) || isSingleValued(thing);
}

const SAME_THING_AS = new Map<string, string>();
for (const [first = "", ...others] of THING_SYNONYMS) {
  if (!SAME_THING_AS.has(first)) SAME_THING_AS.set(first, first);
  for (const other of others) if (!SAME_THING_AS.has(other)) SAME_THING_AS.set(other, first);
}

/**
 * The canonical name of a thing, in lower case: `toCanonicalThing("mum")` equals
 * `toCanonicalThing("mother")`.
 */
export function toCanonicalThing(thing: string): string {
  let lower = thing.toLowerCase().trim();
  // Most things contain neither, and this runs for every word.
  if (lower.includes("fav")) lower = lower.replace(/\bfavorite\b|\bfave\b/g, "favourite");
  if (lower.includes("col")) lower = lower.replace(/\bcolou?rs?\b/g, "color");
  return SAME_THING_AS.get(lower) ?? lower;
}

/** Whether a thing is of a kind: `isKindOf("tortoise", "pet")`, and a beagle, too. Everything is of its own kind. */
export function isKindOf(thing: string, kind: string): boolean {
  const one = toCanonicalThing(thing);
  const other = toCanonicalThing(kind);
  if (one === other) return true;
  if (!Object.hasOwn(THING_KINDS, other)) return false;
  return (THING_KINDS[other] ?? []).some(
    (kind) => kind === one || (Object.hasOwn(THING_KINDS, kind) && isKindOf(one, kind)),
  );
}
