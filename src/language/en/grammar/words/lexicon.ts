/** Words that the grammar needs to know by themselves. */

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).filter(Boolean));
}

export const FIRST_PERSON: ReadonlySet<string> = set("i we me us myself ourselves");
export const FIRST_POSSESSIVE: ReadonlySet<string> = set("my our mine ours");
export const THIRD_POSSESSIVE: ReadonlySet<string> = set("his her its their hers theirs");
/** Subjects of which nothing is worth keeping. */
export const EMPTY_SUBJECTS: ReadonlySet<string> = set(
  "it this that there these those here what nobody somebody someone anyone everyone everybody anybody people one thing things nothing everything something today tomorrow yesterday",
);

export const DETERMINERS: ReadonlySet<string> = set(
  "a an the my your his her its our their this that these those some any no every each all both another either neither much many several few more most",
);

export const PREPOSITIONS: ReadonlySet<string> = set(
  "in on at to from with without for of by about into onto over under through during until till before after between among near around behind beside besides beyond against across along above below within toward towards upon off out since as like than per via despite except inside outside past up down round opposite including plus versus vs instead because",
);
/** Prepositions that can make part of a relation: "live in", "work for". */
export const BINDING: ReadonlySet<string> = set(
  "in on at to from with without for of by about into onto over under through near around against across as like off behind beside opposite between after outside inside",
);

export const SUBORDINATORS: ReadonlySet<string> = set(
  "when whenever while because cause cuz coz although though unless until till since once whereas after before as if so that than where",
);
export const HYPOTHETICAL: ReadonlySet<string> = set(
  "if unless suppose supposing imagine hypothetically wish pretend",
);

export const COORDINATORS: ReadonlySet<string> = set("and but or so yet plus then & nor");

export const AUXILIARIES: ReadonlySet<string> = set(
  "am is are was were be been being 'm 're have has had having 've do does did can could will would shall should may might must cannot 'll 'd ain't",
);
export const BE: ReadonlySet<string> = set("am is are was were be been being 'm 're");
export const MODALS: ReadonlySet<string> = set("can could will would shall should may might must cannot 'll");
/** Modals that leave open whether it is so. */
export const OPEN_MODALS: ReadonlySet<string> = set("could would should might may shall ought");

/** Words said before or between what matters. */
export const FILLERS: ReadonlySet<string> = set(
  "hey hi hello hiya yo ok okay oh ah omg lol haha hahaha btw so well also anyway anyways tbh honestly actually basically literally apparently guess yeah yes yep nope right now please thanks fyi imo meanwhile by the way btw, just finally currently still sadly luckily unfortunately fortunately frankly seriously obviously turns lately ugh phew wow update news",
);

/** States of the hour: not worth a memory. */
export const PASSING: ReadonlySet<string> = set(
  "well tired exhausted hungry starving thirsty bored cold hot warm freezing busy late early back home here there sure certain sorry glad happy sad fine ok okay ready done right wrong good great bad alright awake asleep sleepy stressed annoyed angry excited nervous curious afraid aware fed stuck lost free able welcome better worse worried confused impressed proud grateful thankful lucky kidding joking serious broke drunk hungover knackered shattered gutted thrilled delighted surprised shocked upset furious mad crazy weird interesting awesome amazing lovely nice beautiful brutal annoying hard easy funny true false cool wild insane hilarious terrible horrible awful unreal fun boring loud quiet dead killing everything absolute next up down off on out over in away around same different important due unbelievable ridiculous perfect wonderful rubbish disgusting delicious gorgeous enormous massive hooked obsessed sold buzzing sick ill",
);

export const HEDGES: ReadonlySet<string> = set(
  "maybe perhaps probably possibly might guess suppose think apparently supposedly reckon seem seems somewhat kinda sorta",
);

/** People of one's life: a bare "mum" or "Grandma" is one's own. */
export const KIN: ReadonlySet<string> = set(
  "mum mom mam mother mummy mommy dad father daddy papa mama grandma grandpa gran granny nan nana nanna grandad granddad grandmother grandfather auntie aunty uncle aunt hubby",
);

export const FEMALE: ReadonlySet<string> = set(
  "mum mom mam mother mummy mama sister sis wife girlfriend gf daughter grandma gran granny nan nana grandmother aunt auntie niece landlady fiancee fiancée girl woman lady missus stepmother stepmum stepmom stepsister stepdaughter goddaughter godmother mother-in-law sister-in-law daughter-in-law queen granddaughter bridesmaid hen mare",
);
export const MALE: ReadonlySet<string> = set(
  "dad father daddy papa brother bro husband hubby boyfriend bf son grandpa grandad granddad grandfather uncle nephew fiance fiancé boy man guy bloke stepfather stepdad stepbrother stepson godson godfather father-in-law brother-in-law son-in-law king grandson",
);
/** Nouns that name persons, who can be "he" or "she". Professions end in ways that `isPerson` knows. */
export const PERSONS: ReadonlySet<string> = set(
  "friend mate buddy pal bestie colleague coworker workmate teammate boss manager landlord neighbour neighbor flatmate roommate housemate partner ex kid child baby toddler twin cousin sibling parent spouse doctor gp dentist therapist counsellor teacher tutor coach trainer mentor student client customer patient nurse vet plumber electrician builder cleaner nanny babysitter childminder hairdresser barber accountant lawyer solicitor agent adviser advisor assistant intern supervisor instructor professor driver chef guy person lead captain secretary carer caretaker principal headteacher headmaster ref lodger tenant godchild stepchild relative sibling in-law pt osteopath physio physiotherapist chiropractor psychologist psychiatrist surgeon midwife optician pharmacist handyman gardener mechanic pianist guest host bandmate classmate schoolmate crush date penpal parents kids children guys editor publisher producer singer drummer guitarist bassist bestman witness au-pair sponsor",
);
export const ANIMALS: ReadonlySet<string> = set(
  "dog puppy pup cat kitten rabbit bunny hamster parrot budgie tortoise turtle fish goldfish snake lizard gecko ferret rat mouse horse pony hen chicken canary cockatiel hedgehog chinchilla axolotl iguana gerbil spider tarantula bird snail pet goat sheep pig cow duck donkey llama alpaca bee terrier beagle labrador poodle greyhound whippet spaniel collie retriever dachshund corgi husky pug bulldog",
);

/** Titles before a name. */
export const TITLES: ReadonlySet<string> = set(
  "mr mrs ms miss dr prof professor sir dame father sister aunt auntie uncle lord lady coach",
);

/** Verbs whose particle belongs to them. */
const PARTICLES: Readonly<Record<string, string>> = {
  take: "up on off over out",
  pick: "up",
  give: "up",
  break: "up off down",
  split: "up",
  grow: "up",
  get: "off up rid shot shut into back",
  set: "up off",
  end: "up",
  move: "in out away back",
  bring: "up",
  look: "after forward",
  work: "out",
  hand: "in over",
  turn: "down off up",
  put: "off on up down",
  throw: "out away",
  phase: "out",
  sort: "out",
  try: "out",
  find: "out",
  figure: "out",
  run: "out",
  cut: "down out back",
  switch: "over off",
  hang: "out up",
  go: "out back off",
  come: "out down back",
  call: "off up",
  fall: "out",
  settle: "down",
  drop: "out off",
  show: "up",
  pay: "off back",
  save: "up",
  start: "out over up",
  team: "up",
  stay: "up over",
  swap: "out over",
  pass: "away on",
  pack: "in up",
  jack: "in",
  sack: "off",
  bin: "off",
  wind: "down up",
  step: "down",
  chuck: "in out away",
  close: "down",
  shut: "down",
  write: "off",
  conk: "out",
  sign: "up off",
  hook: "up",
  ask: "out",
  knock: "off down",
  trade: "in",
  send: "off out back",
  hold: "down",
  carry: "on",
  wake: "up",
  live: "",
  sell: "off",
  make: "up",
  opt: "out",
};

/** Whether a particle belongs to a verb in its base form: "give up". */
export function isParticle(verb: string, word: string): boolean {
  const particles = Object.hasOwn(PARTICLES, verb) ? PARTICLES[verb] : undefined;
  return particles?.split(" ").includes(word) ?? false;
}

/** Verbs that take another verb and keep its meaning to themselves: "plan to hike", "love baking". */
export const CATENATIVE: ReadonlySet<string> = set(
  "plan want intend hope aim need have promise decide agree try learn like love hate prefer enjoy start begin stop quit keep continue finish go use refuse manage tend choose vow swear offer threaten expect wish remember forget consider avoid dislike mean suppose arrange prepare adore mind miss practise practice be fancy get grow end",
);

/** Verbs of saying and thinking, which bring in a clause of its own. */
export const SAYING: ReadonlySet<string> = set(
  "say tell mention think believe know guess reckon feel hear ask claim announce explain admit suppose hope bet swear realise realize notice find learn mean remember insist joke text message write reply see understand promise confess declare",
);

/** Adjectives that bind a preposition: "allergic to nuts". */
export const BOUND_ADJECTIVES: Readonly<Record<string, string>> = {
  allergic: "to",
  intolerant: "to of",
  addicted: "to",
  subscribed: "to",
  married: "to",
  engaged: "to",
  related: "to",
  close: "to",
  used: "to",
  opposed: "to",
  sensitive: "to",
  immune: "to",
  new: "to",
  committed: "to",
  scared: "of",
  afraid: "of",
  terrified: "of",
  fond: "of",
  tired: "of",
  sick: "of",
  proud: "of",
  keen: "on",
  hooked: "on",
  good: "at",
  great: "at",
  bad: "at",
  terrible: "at",
  rubbish: "at",
  awful: "at",
  interested: "in",
  fluent: "in",
  based: "in at",
  born: "in on at",
  enrolled: "in at on",
  involved: "in with",
  obsessed: "with",
  diagnosed: "with",
  insured: "with",
  registered: "with at for",
  signed: "up to with",
  due: "on at in",
  employed: "by at as",
  named: "after",
  called: "",
  responsible: "for",
  qualified: "as",
  trained: "as in",
  certified: "in as",
  stationed: "in at",
  parked: "in at on",
  booked: "for on at with",
  scheduled: "for on at",
  made: "of from",
  friends: "with",
  colourblind: "",
};

/** One word for one's place in the world after "I'm": "vegan", "Dutch". Others become memories too, with less weight. */
export const LASTING: ReadonlySet<string> = set(
  "vegan vegetarian pescatarian coeliac celiac diabetic asthmatic epileptic dyslexic autistic colourblind colorblind left-handed right-handed deaf blind pregnant married single divorced widowed engaged retired self-employed unemployed freelance lactose-intolerant jewish muslim christian catholic buddhist hindu atheist agnostic gay lesbian bisexual straight trans nonbinary non-binary queer bilingual trilingual introverted extroverted teetotal sober halal kosher gluten-free republican democrat adopted anaemic anemic hypertensive undocumented transgender polyamorous disabled celibate infertile insured uninsured homeless bipolar neurodivergent adhd",
);
