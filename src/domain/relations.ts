import type { Kind } from "./memory.ts";

/** What is known about a relation: the verb phrase of a claim, in its base form. */
export interface Relation {
  readonly relation: string;
  /** `one`: a new value takes the place of the old one ("live in"). `many`: values stand beside each other ("use"). */
  readonly holds: "one" | "many";
  readonly kind: Kind;
  /** Health, beliefs, money. */
  readonly sensitive?: boolean;
}

/**
 * The relations that need saying. To add one, add a row: name, how many values it holds, kind, and `sensitive`
 * where it touches health, beliefs or money. A relation that is not here holds many values and is a fact.
 * `be` is special: whether it holds one value depends on what is said (see `attributeHoldsOne`).
 */
const ROWS: readonly (readonly [string, "one" | "many", Kind, "sensitive"?])[] = [
  ["live in", "one", "fact"],
  ["live at", "one", "fact"],
  ["live on", "one", "fact"],
  ["live with", "many", "fact"],
  ["live near", "one", "fact"],
  ["be called", "one", "entity"],
  ["be nicknamed", "many", "entity"],
  ["be aged", "one", "fact"],
  ["be born in", "one", "fact"],
  ["be born on", "one", "fact"],
  ["be from", "one", "fact"],
  ["grow up in", "many", "fact"],
  ["work at", "one", "fact"],
  ["work as", "one", "fact"],
  ["work in", "many", "fact"],
  ["work on", "many", "fact"],
  ["work with", "many", "fact"],
  ["teach at", "many", "fact"],
  ["study at", "one", "fact"],
  ["study", "many", "fact"],
  ["graduate from", "many", "fact"],
  ["report to", "one", "fact"],
  ["be married to", "one", "fact"],
  ["be engaged to", "one", "fact"],
  ["be in a relationship with", "one", "fact"],
  ["date", "one", "fact"],
  ["have", "many", "fact"],
  ["own", "many", "fact"],
  ["rent", "many", "fact"],
  ["drive", "many", "fact"],
  ["ride", "many", "fact"],
  ["use", "many", "fact"],
  ["wear", "many", "fact"],
  ["play", "many", "fact"],
  ["speak", "many", "fact"],
  ["learn", "many", "fact"],
  ["read", "many", "fact"],
  ["watch", "many", "fact"],
  ["support", "many", "preference"],
  ["eat", "many", "preference"],
  ["drink", "many", "preference"],
  ["like", "many", "preference"],
  ["love", "many", "preference"],
  ["enjoy", "many", "preference"],
  ["hate", "many", "preference"],
  ["dislike", "many", "preference"],
  ["prefer", "many", "preference"],
  ["avoid", "many", "preference"],
  ["want", "many", "preference"],
  ["want to", "many", "commitment"],
  ["be into", "many", "preference"],
  ["be a fan of", "many", "preference"],
  ["be scared of", "many", "fact"],
  ["be subscribed to", "many", "fact"],
  ["be a member of", "many", "fact"],
  ["have been to", "many", "fact"],
  ["visit", "many", "event"],
  ["plan to", "many", "commitment"],
  ["be going to", "many", "commitment"],
  ["promise", "many", "commitment"],
  ["owe", "many", "commitment", "sensitive"],
  ["earn", "one", "fact", "sensitive"],
  ["make", "many", "fact"],
  ["weigh", "one", "fact", "sensitive"],
  ["vote for", "many", "fact", "sensitive"],
  ["believe in", "many", "fact", "sensitive"],
  ["be allergic to", "many", "fact", "sensitive"],
  ["be intolerant to", "many", "fact", "sensitive"],
  ["be diagnosed with", "many", "fact", "sensitive"],
  ["suffer from", "many", "fact", "sensitive"],
  ["take", "many", "fact"],
  ["be on", "many", "fact"],
  ["smoke", "many", "fact", "sensitive"],
  ["be with", "one", "fact"],
  ["be due on", "one", "fact"],
  ["be due", "one", "fact"],
  ["bank with", "many", "fact", "sensitive"],
  ["wish to be called", "one", "instruction"],
];

/** The table by relation. */
export const RELATIONS: ReadonlyMap<string, Relation> = new Map(
  ROWS.map(([relation, holds, kind, sensitive]) => [
    relation,
    { relation, holds, kind, ...(sensitive ? { sensitive: true } : {}) },
  ]),
);

/** What is known about a relation; a plain fact of many values where nothing is. */
export function relationOf(relation: string): Relation {
  return RELATIONS.get(relation) ?? { relation, holds: "many", kind: "fact" };
}

/** Other ways to say the same relation, so that a new value finds the old one. Left becomes right when it is stored. */
const SAME_AS: Readonly<Record<string, string>> = {
  "reside in": "live in",
  "be based in": "live in",
  "be living in": "live in",
  "dwell in": "live in",
  "live over in": "live in",
  "live up in": "live in",
  "live down in": "live in",
  "live out in": "live in",
  "live outside": "live in",
  "be named": "be called",
  "go by": "be called",
  "answer to": "be called",
  "work for": "work at",
  "be employed by": "work at",
  "be employed at": "work at",
  "have a job at": "work at",
  "be employed as": "work as",
  "come from": "be from",
  "originate from": "be from",
  "hail from": "be from",
  "be originally from": "be from",
  "subscribe to": "be subscribed to",
  "be signed up to": "be subscribed to",
  "be signed up for": "be subscribed to",
  "be a subscriber to": "be subscribed to",
  "be dating": "date",
  "go out with": "date",
  "be going out with": "date",
  "be fond of": "like",
  adore: "love",
  detest: "hate",
  despise: "hate",
  loathe: "hate",
  "be keen on": "be into",
  utilise: "use",
  utilize: "use",
  "be intolerant of": "be intolerant to",
  "be afraid of": "be scared of",
  "be terrified of": "be scared of",
};

/** The name under which a relation is stored. */
export function canonicalRelation(relation: string): string {
  return SAME_AS[relation] ?? relation;
}

/** Relations that answer the same question. A question with one of a row is answered by all of it. */
const GROUPS: readonly (readonly string[])[] = [
  ["live in", "live at", "live on", "live near", "move to", "be in", "stay in", "relocate to", "settle in"],
  (
    "work at|work as|teach at|tutor at|intern at|volunteer at|be employed by|join|work in|" +
    "start at|nurse at|cook at|wait tables at|bartend at|run|freelance for|consult for|" +
    "lecture at|lifeguard at|coach at|clean at|guard at|cook for|drive for|write for|" +
    "design for|code for|teach for|manage|tend bar at|do shifts at"
  ).split("|"),
  ["be called", "be", "wish to be called", "be nicknamed"],
  ["be from", "grow up in", "be born in", "be"],
  ["drive", "own", "have", "get", "buy", "lease"],
  (
    "have|own|keep|adopt|rescue|foster|buy|get|raise|inherit|go with|go for|choose|opt for|" +
    "settle on|pick|pick up|order|upgrade to|switch to|receive"
  ).split("|"),
  ["own", "have", "keep", "buy", "get", "adopt", "collect", "possess", "inherit"],
  ["ride", "own", "have", "buy"],
  ["like", "love", "enjoy", "be into", "be a fan of", "prefer", "adore"],
  [
    "hate",
    "dislike",
    "not like",
    "cannot stand",
    "not stand",
    "avoid",
    "can not stand",
    "not enjoy",
    "not eat",
  ],
  ["be allergic to", "be intolerant to", "have", "react to"],
  ["learn", "study", "take", "take up"],
  ["study", "learn", "major in", "read", "do", "be studying"],
  ["study at", "go to", "attend", "be at"],
  ["use", "work with", "rely on", "swear by", "switch to", "be on", "run on"],
  ["be subscribed to", "pay for", "have", "subscribe to"],
  [
    "date",
    "see",
    "be in a relationship with",
    "be married to",
    "be engaged to",
    "be with",
    "be together with",
    "go out with",
    "marry",
  ],
  ["be married to", "marry"],
  ["speak", "grow up speaking", "be fluent in", "know", "learn"],
  ["have been to", "visit", "go to", "travel to", "fly to", "be in", "have visited"],
  ["visit", "have been to", "go to", "travel to", "fly to"],
  [
    "go to",
    "travel to",
    "fly to",
    "be off to",
    "visit",
    "drive to",
    "have been to",
    "head to",
    "move to",
    "sail to",
  ],
  ["eat", "have", "like", "love"],
  ["drink", "have", "like", "love"],
  ["plan to", "be going to", "want to", "intend to", "hope to", "aim to"],
  ["tell", "promise", "promise to", "agree to"],
  ["promise", "promise to", "owe", "agree to", "swear to"],
  ["play", "learn", "practise", "practice", "take up"],
  ["take", "be on", "use", "be prescribed"],
  ["suffer from", "have", "be diagnosed with", "be"],
  ["support", "be a fan of", "follow", "root for", "cheer for"],
  ["earn", "make", "get paid", "be on"],
  ["weigh", "be"],
  [
    "be with",
    "be at",
    "use",
    "have",
    "bank with",
    "bank at",
    "date",
    "be in a relationship with",
    "be married to",
    "be engaged to",
    "be together with",
    "see",
  ],
  ["train for", "prepare for", "practise for", "sign up for", "register for"],
  ["go by", "take", "commute by", "ride", "drive", "cycle to", "commute on", "travel by"],
  ["go to bed", "get to bed", "be in bed", "be asleep"],
  ["get up", "wake up", "wake", "rise", "be up"],
  ["be due on", "be due", "be on", "be"],
  ["bring up", "raise"],
  ["wear", "use", "have"],
  ["cook", "make", "bake"],
  ["believe in", "be", "practise"],
  ["vote for", "support"],
];

const ANSWERED_BY = new Map<string, Set<string>>();
for (const [first = "", ...others] of GROUPS) {
  const held = ANSWERED_BY.get(first) ?? new Set([first]);
  for (const other of others) held.add(other);
  ANSWERED_BY.set(first, held);
}

/** The relations that answer a question with this one, itself first. */
export function answeringRelations(relation: string): string[] {
  const stored = canonicalRelation(relation);
  const direct = ANSWERED_BY.get(stored);
  return direct ? [...direct] : [stored];
}

/** A noun asked after ("What's my job?") and the relations of the person that answer it. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  name: ["be called"],
  nickname: ["be nicknamed", "wish to be called", "be called"],
  surname: ["be called"],
  job: ["work as", "be", "work at", "work in", "teach at", "run", "do"],
  occupation: ["work as", "be", "work at"],
  profession: ["work as", "be", "work at"],
  career: ["work as", "be", "work at"],
  work: ["work as", "work at", "be"],
  trade: ["work as", "be"],
  employer: ["work at"],
  company: ["work at", "run", "own"],
  workplace: ["work at"],
  firm: ["work at"],
  home: ["live in", "live at", "live on"],
  city: ["live in"],
  town: ["live in"],
  village: ["live in"],
  country: ["live in"],
  address: ["live at", "live on", "live in"],
  street: ["live on", "live at"],
  hometown: ["be from", "grow up in", "be born in"],
  birthplace: ["be born in"],
  age: ["be aged"],
  birthday: ["be born on"],
  car: ["drive", "own", "have"],
  vehicle: ["drive", "own", "have"],
  bike: ["ride", "own", "have"],
  pet: ["have", "own", "keep", "adopt", "rescue", "get", "buy", "pick up", "foster"],
  pets: ["have", "own", "keep", "adopt", "rescue", "get", "buy", "pick up", "foster"],
  hobby: ["play", "enjoy", "take up", "be into", "love", "like", "do", "collect"],
  allergy: ["be allergic to"],
  intolerance: ["be intolerant to", "be allergic to"],
  diet: ["be", "eat", "not eat", "follow"],
  language: ["speak"],
  nationality: ["be", "be from"],
  religion: ["be", "believe in", "practise"],
  faith: ["be", "believe in"],
  condition: ["have", "be", "suffer from", "be diagnosed with"],
  illness: ["have", "be", "suffer from", "be diagnosed with"],
  diagnosis: ["have", "be", "be diagnosed with"],
  disease: ["have", "suffer from", "be diagnosed with"],
  medication: ["take", "be on"],
  medicine: ["take", "be on"],
  supplement: ["take"],
  partner: ["date", "see", "be married to", "be in a relationship with"],
  boyfriend: ["date", "see"],
  girlfriend: ["date", "see"],
  husband: ["be married to"],
  wife: ["be married to"],
  spouse: ["be married to"],
  fiance: ["be engaged to"],
  fiancee: ["be engaged to"],
  instrument: ["play", "learn"],
  sport: ["play", "do", "take up"],
  subscription: ["be subscribed to", "pay for"],
  membership: ["be a member of", "be with", "be subscribed to"],
  status: ["be", "be diagnosed with", "have"],
  class: ["do", "take", "attend", "go to"],
  course: ["take", "do", "attend", "sign up for"],
  addiction: ["be addicted to"],
  politics: ["vote for", "vote", "support", "be a member of"],
  collection: ["collect"],
  degree: ["study", "have"],
  major: ["study", "major in"],
  subject: ["study", "teach"],
  school: ["go to", "attend", "teach at", "study at"],
  university: ["study at", "go to", "attend", "graduate from"],
  college: ["study at", "go to", "attend", "graduate from"],
  team: ["support", "play for"],
  salary: ["earn", "make"],
  income: ["earn", "make"],
  weight: ["weigh"],
  bank: ["bank with", "be with"],
  fear: ["be scared of"],
  phobia: ["be scared of"],
  plan: ["plan to", "be going to"],
  preference: ["prefer"],
  role: ["work as", "be"],
};

/** Relations that answer a question for an attribute of somebody; none where the noun is no known attribute. */
export function attributeRelations(noun: string): readonly string[] {
  return Object.hasOwn(ATTRIBUTES, noun) ? (ATTRIBUTES[noun] ?? []) : [];
}

/** What is one at a time of a person or a thing: `user/salary` `be` one value. */
const ONE_VALUE =
  /^(?:.*\b(?:number|name|password|email|e-mail|address|birthday|anniversary|salary|rent|wage|income|age|height|weight|size|budget|deadline|appointment|flight|party|wedding|interview|exam|test|meeting|date|type|code|username|handle|postcode|zip|plate|due date|shift|schedule|gym|dentist|doctor|gp|landlord|landlady|therapist|boss|manager|trainer|coach|teacher|tutor|job title|title|role|gate|terminal|seat|score|limit|goal|target|pin|broker|bank|provider|plan|mortgage|pension|insurance|locker|desk|room|floor|mechanic|accountant|lawyer|vet|hairdresser|barber|employer|company|school|university|hometown|nickname|timezone|capacity|price|fee|course|dose|dosage|blood type|prescription)s?|(?:\w+ )*(?:favou?rite|fave|usual|preferred|go-to) .*)$/;

/** Whether `be` of this thing ("salary", "favourite book", "phone number") holds one value at a time. */
export function attributeHoldsOne(thing: string): boolean {
  return ONE_VALUE.test(thing.toLowerCase());
}

/** Words that name the same person or thing; the first of each row stands for all. */
const SAME_THING: readonly (readonly string[])[] = [
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

const SAME_THING_AS = new Map<string, string>();
for (const [first = "", ...others] of SAME_THING) {
  if (!SAME_THING_AS.has(first)) SAME_THING_AS.set(first, first);
  for (const other of others) if (!SAME_THING_AS.has(other)) SAME_THING_AS.set(other, first);
}

/** One name for things of several: `canonicalThing("mum")` and `("mother")` are equal. Lower case. */
export function canonicalThing(thing: string): string {
  let lower = thing.toLowerCase().trim();
  // Most things have nothing to do with either, and this is asked of every word.
  if (lower.includes("fav")) lower = lower.replace(/\bfavorite\b|\bfave\b/g, "favourite");
  if (lower.includes("col")) lower = lower.replace(/\bcolou?rs?\b/g, "color");
  return SAME_THING_AS.get(lower) ?? lower;
}

/** Who or what a noun may also be: a cat is a pet, a wife a partner. Particular -> general. */
const IS_A: Readonly<Record<string, readonly string[]>> = {
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

/** Whether a thing is of the kind that is asked for: `isKindOf("tortoise", "pet")`. Everything is of its own kind. */
export function isKindOf(thing: string, kind: string): boolean {
  const one = canonicalThing(thing);
  const other = canonicalThing(kind);
  if (one === other) return true;
  return Object.hasOwn(IS_A, other) && (IS_A[other] ?? []).includes(one);
}
