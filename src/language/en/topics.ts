import { splitWords, stem } from "../../domain/search/search-terms.ts";
import { RELATIONS, toCanonicalRelation } from "./relations/relations.ts";

/** A topic that people group memories by: "my health", "my job", "my family". */
export interface Topic {
  /** The topic's name: "health". */
  readonly name: string;
  /** Other names for it, lower case. */
  readonly names: ReadonlySet<string>;
  /** Relations that always belong to this topic. */
  readonly relations: ReadonlySet<string>;
  /** Stems of words that assign a statement to this topic. */
  readonly stems: ReadonlySet<string>;
}

/** The part of a statement that determines its topic. */
interface TopicStatement {
  readonly text: string;
  readonly claim?: {
    readonly subject: string;
    readonly relation: string;
    readonly value: string;
    readonly qualifier?: string;
  };
}

/**
 * The topics. To add one, add a row: its name, other names, relations that always belong to it, and words
 * that do. Use only words that rarely mean something else: everything they match is erased when the user says
 * "forget my health".
 */
const TOPIC_ROWS: readonly {
  readonly name: string;
  readonly names: string;
  readonly relations: string;
  readonly words: string;
}[] = [
  {
    name: "health",
    names:
      "medical|health issues|health problems|medical history|medical information|medical data|condition|illness",
    relations:
      "be allergic to|be intolerant to|be diagnosed with|suffer from|weigh|smoke|react to|be addicted to|be prescribed",
    words:
      "health healthy medical medication medicine medicines tablet tablets pill pills dose dosage prescription prescribed " +
      "diagnosis diagnosed diagnose allergy allergies allergic intolerance intolerant illness ill disease disorder syndrome " +
      "infection symptom symptoms pain painful ache aches headache headaches migraine migraines fever cough asthma diabetes " +
      "diabetic insulin cancer tumour tumor depression depressed anxiety adhd autism epilepsy arthritis hypertension " +
      "cholesterol anaemia anemia eczema psoriasis coeliac celiac pregnant pregnancy miscarriage surgery operation surgeon " +
      "hospital clinic doctor gp physician nurse therapist therapy psychiatrist psychologist counsellor physiotherapist " +
      "dentist vaccine vaccinated injury injured fracture fractured sprained antidepressant antidepressants antibiotics " +
      "antibiotic inhaler painkiller painkillers insomnia rehab sobriety sober addiction hiv std bipolar ptsd ocd weight",
  },
  {
    name: "money",
    names: "finances|finance|financial|financial situation|financial information|financial data|income|debts",
    relations: "earn|owe|bank with|get paid|pay for",
    words:
      "money salary salaries wage wages income pay payslip debt debts loan loans mortgage overdraft savings bank banks " +
      "account iban invest invested investment investments shares stocks pension bonus credit rent tax taxes budget " +
      "inheritance bankrupt bankruptcy insolvency crypto bitcoin finances financial broke",
  },
  {
    name: "beliefs",
    names: "belief|religion|faith|politics|political views|religious views|opinions",
    relations: "believe in|vote for|practise",
    words:
      "religion religious faith church mosque synagogue temple pray prayer prayers god atheist atheism agnostic christian " +
      "catholic protestant muslim islam jewish judaism hindu hinduism buddhist buddhism sikh quaker vote voted voting " +
      "election elections politics political socialist conservative liberal communist union activist protest",
  },
  {
    name: "work",
    names: "job|jobs|career|employer|employment|profession|occupation|workplace",
    relations:
      "work at|work as|work in|work on|work with|report to|teach at|freelance for|consult for|intern at|manage|lecture at",
    words:
      "job jobs work works working worked employer employed employee employment office boss manager colleague colleagues " +
      "coworker coworkers career profession promotion promoted hired fired redundant redundancy resigned resign shift " +
      "shifts client clients workplace internship apprenticeship freelance freelancer freelancing",
  },
  {
    name: "study",
    names: "studies|education|school|university|college|degree",
    relations: "study|study at|graduate from|major in",
    words:
      "study studies studying studied university college school degree diploma exam exams thesis dissertation lecture " +
      "lectures lecturer semester course courses homework classmate campus graduate graduated tuition scholarship",
  },
  {
    name: "family",
    names: "family members|relatives|parents|siblings|children|kids",
    relations: "",
    words:
      "family families mother mum mom father dad parent parents sister sisters brother brothers sibling siblings son sons " +
      "daughter daughters child children kid kids baby wife husband spouse grandmother grandma gran granny grandfather " +
      "grandpa grandad grandparent grandparents aunt auntie uncle cousin cousins nephew nephews niece nieces twin twins " +
      "stepmother stepfather stepson stepdaughter relatives relative grandson granddaughter",
  },
  {
    name: "relationships",
    names: "love life|relationship|partner|dating life|marriage|divorce|sex life",
    relations: "date|be married to|be engaged to|be in a relationship with|be together with|marry",
    words:
      "boyfriend girlfriend partner wife husband spouse fiance fiancee married marriage engaged dating divorce divorced " +
      "separated ex affair crush wedding relationship girlfriends boyfriends",
  },
  {
    name: "home",
    names: "address|house|flat|apartment|where i live|living situation",
    relations: "live in|live at|live on|live with|live near|rent",
    words:
      "address house flat apartment landlord landlady flatmate roommate housemate tenant tenancy lease postcode " +
      "neighbourhood neighborhood neighbour neighbours street bedroom kitchen garden balcony",
  },
  {
    name: "food",
    names: "diet|eating habits|meals|food preferences|drinks",
    relations: "eat|drink|not eat|cook|bake",
    words:
      "food foods diet vegetarian vegan pescatarian meal meals breakfast lunch dinner supper snack snacks restaurant " +
      "restaurants recipe recipes cook cooking bake baking eat eats eating coffee tea wine beer pizza pasta sushi cuisine " +
      "dish dishes dessert",
  },
  {
    name: "travel",
    names: "travels|trips|holidays|vacations|travel plans|trip",
    relations: "have been to|visit|travel to|fly to",
    words:
      "travel travels travelling traveling travelled traveled trip trips holiday holidays vacation vacations flight " +
      "flights hotel hotels hostel airport passport visa itinerary cruise backpacking",
  },
  {
    name: "hobbies",
    names: "hobby|interests|free time|leisure|sports",
    relations: "play|enjoy|be into|be a fan of|collect|support|take up",
    words:
      "hobby hobbies game games gaming football tennis chess guitar piano violin painting knitting climbing running " +
      "cycling hiking yoga swimming gym marathon photography gardening dancing choir band novel novels",
  },
  {
    name: "pets",
    names: "pet|animals",
    relations: "",
    words:
      "pet pets dog dogs puppy cat cats kitten hamster rabbit parrot tortoise budgie goldfish vet kennel aquarium terrarium",
  },
  {
    name: "secrets",
    names: "passwords|credentials|codes|pins",
    relations: "",
    words:
      "password passwords passcode passphrase pin pincode credential credentials secret secrets token keypad",
  },
];

/** The topics by name. */
export const TOPICS: ReadonlyMap<string, Topic> = new Map(
  TOPIC_ROWS.map(({ name, names, relations, words: all }) => [
    name,
    {
      name,
      names: new Set(names.split("|")),
      relations: new Set(relations.split("|").filter(Boolean)),
      stems: new Set(splitWords(all).map(stem)),
    },
  ]),
);

/** The topic with this name, or with another name for it; undefined if there is none. */
export function findTopic(name: string): Topic | undefined {
  const plain = name.trim().toLowerCase();
  return TOPICS.get(plain) ?? [...TOPICS.values()].find(({ names }) => names.has(plain));
}

/** Gives the name of the first topic that a statement belongs to. */
export function findTopicOf(statement: TopicStatement): string | undefined {
  const [first] = topicsOf(statement);
  return first;
}

/** Combinations of topics that were met. Statements share them, so that classifying many keeps nothing for each. */
const COMBINATIONS = new Map<string, ReadonlySet<string>>();

/** The names of all topics that a statement belongs to. */
export function topicsOf(statement: TopicStatement): ReadonlySet<string> {
  const words = wordsOf(statement);
  const stems = splitWords(words).map(stem);
  const names = [...TOPICS.values()].filter((topic) => holdsTopic(topic, statement, words, stems));
  const key = names.map(({ name }) => name).join(" ");
  const combination = COMBINATIONS.get(key) ?? new Set(names.map(({ name }) => name));
  COMBINATIONS.set(key, combination);
  return combination;
}

/** Whether a name is that of a relation ("live in"), in any of its forms. */
export function isRelationName(name: string): boolean {
  return RELATIONS.has(toCanonicalRelation(name.trim().toLowerCase()));
}

/** Whether a statement belongs to a topic: by its relation, or by a word of its text or claim. */
export function isOfTopic(topic: Topic, statement: TopicStatement): boolean {
  const words = wordsOf(statement);
  return holdsTopic(topic, statement, words, splitWords(words).map(stem));
}

function wordsOf({ text, claim }: TopicStatement): string {
  return [text, claim?.subject.replaceAll("/", " "), claim?.value, claim?.qualifier].join(" ");
}

function holdsTopic(
  { name, relations, stems: own }: Topic,
  { claim }: TopicStatement,
  words: string,
  stems: readonly string[],
): boolean {
  if (claim && relations.has(claim.relation)) return true;
  if (name === "health" && claim && isHealer(claim)) return false;
  if (name === "health" && claim && isMedical(claim)) return true;
  if (name !== "food" && claim && (claim.relation === "eat" || claim.relation === "drink")) return false;
  // Two words for the index, and one of them is "in".
  if (name === "family" && /\bin-laws?\b/iu.test(words)) return true;
  return stems.some((one) => own.has(one));
}

/** Endings of names of prescribed substances (the stems of international nonproprietary names). */
const MEDICINE_ENDINGS =
  "formin statin pril sartan olol cillin mycin micin floxacin cycline azole prazole idone barbital azepam zolam azolam " +
  "oxetine triptyline pramine tidine caine codone morphone glutide gliptin gliflozin parin xaban mab tinib vir vudine " +
  "triptan dronate setron lukast terol tropium profen coxib fenac sone solone sonide thiazide semide gabalin gabapentin " +
  "thyroxine citalopram traline faxine azapine tiapine piprazole dipine afil";

/** Medicines without such an ending, and common names for kinds of medicines. */
const MEDICINES =
  "insulin ibuprofen paracetamol acetaminophen aspirin warfarin lithium methadone methotrexate morphine codeine digoxin " +
  "naproxen salbutamol albuterol ventolin ritalin adderall methylphenidate prozac zoloft xanax valium cortisone steroids " +
  "steroid statins antihistamine antihistamines antacid antacids painkillers betablockers diuretic diuretics melatonin " +
  "tamoxifen lamotrigine valproate carbamazepine levodopa ozempic chemo chemotherapy";

/** Endings of the names of illnesses. */
const ILLNESS_ENDINGS =
  "itis aemia leukemia anemia septicemia glycemia carcinoma lymphoma melanoma sarcoma glaucoma myeloma algia plegia " +
  "neuropathy myopathy phobia thrombosis fibrosis sclerosis cirrhosis neurosis psychosis tuberculosis scoliosis " +
  "osteoporosis endometriosis sepsis";

const ILLNESSES =
  "pneumonia stroke flu influenza covid measles mumps shingles chickenpox malaria dementia alzheimer alzheimer's " +
  "parkinson's parkinson lupus gout anorexia bulimia ulcer hernia angina concussion coma wheelchair crutches unwell sick " +
  "ebola polio cataract cataracts gallstones appendix hospice chemo dialysis transplant pacemaker bedridden";

/** Medical professions. They say nothing about the person's own health. */
const HEALERS =
  /\b(?:doctor|gp|physician|nurse|therapist|surgeon|psychiatrist|psychologist|counsell?or|physiotherapist|dentist|paramedic|vet)s?\b/iu;

const splitList = (text: string): string[] => text.split(" ");
const MEDICINE_ENDING = new RegExp(`^\\p{L}{2,}(?:${splitList(MEDICINE_ENDINGS).join("|")})$`, "u");
const ILLNESS_ENDING = new RegExp(`^\\p{L}*(?:${splitList(ILLNESS_ENDINGS).join("|")})$`, "u");
const MEDICINE_WORDS: ReadonlySet<string> = new Set(splitList(MEDICINES));
const ILLNESS_WORDS: ReadonlySet<string> = new Set(splitList(ILLNESSES));

const HURTING = /^(?:break|fracture|sprain|twist|tear|injure|hurt|dislocate|burn|cut|strain|pull)$/;
const BODY =
  /\b(?:legs?|arms?|hips?|ankles?|wrists?|knees?|collarbone|ribs?|foot|feet|toes?|fingers?|thumb|nose|jaw|skull|spine|back|neck|shoulders?|elbows?|hand|hands|head|heart|lungs?|kidneys?|liver|muscle|ligament|tendon|hamstring|meniscus|acl)\b/i;

/** The part of a statement that may concern health. */
interface MedicalClaim {
  readonly relation: string;
  readonly value: string;
}

/** Whether a word is the name of a medicine, by its ending or by the list. */
export function isMedicine(word: string): boolean {
  const plain = word.toLowerCase();
  return MEDICINE_WORDS.has(plain) || (plain.length > 5 && MEDICINE_ENDING.test(plain));
}

/** Whether a statement mentions a medicine that someone takes, an illness, or an injury. */
export function isMedical({ relation, value }: MedicalClaim): boolean {
  const words = splitWords(value);
  if (/^(?:take|be on|use|inject|be given|need|be prescribed|swallow|start)$/.test(relation)) {
    if (words.some(isMedicine)) return true;
  }
  if (HURTING.test(relation) && BODY.test(value)) return true;
  return words.some((word) => ILLNESS_WORDS.has(word) || ILLNESS_ENDING.test(word));
}

/** "is a nurse", "works as a dentist": a medical profession, not an illness. */
function isHealer({ relation, value }: MedicalClaim): boolean {
  return (
    /^(?:be|become|work as|be married to|marry|study to be|train as|want to be)$/.test(relation) &&
    HEALERS.test(value)
  );
}

/** Sensitive subjects and the words that reveal them. To add a kind, add a row. */
const SENSITIVE_KINDS: readonly (readonly [kind: string, words: RegExp])[] = [
  [
    "health",
    /\b(?:allerg\w*|diabet\w*|asthma\w*|cancer|tumou?r|depress(?:ed|ion|ive)\w*|anxiety|adhd|autis\w*|hiv|aids|std|pregnan\w*|coeliac|celiac|epilep\w*|therap(?:y|ist|ists)|medicat\w*|prescri\w*|diagnos\w*|diseases?|illness\w*|surger(?:y|ies)|operation|blood (?:type|pressure)|disorder|syndrome|antidepressants?|antibiotics?|insulin|tablets|pills|migraines?|arthritis|dementia|alzheimer\w*|stroke|bipolar|schizo\w*|ptsd|ocd|insomnia|rehab|alcoholic|addict(?:ed|ion)|sober|smok(?:e|es|ing|er)|vap(?:e|es|ing)|miscarriage|abortion|ivf|infertil\w*|disabled|disability|wheelchair|chemo\w*|dialysis|transplant|eating disorder|anorexi\w*|bulimi\w*|suicid\w*|self-harm\w*)\b/i,
  ],
  [
    "beliefs",
    /\b(?:religio\w*|church|mosque|synagogue|muslim|islam\w*|christian\w*|catholic\w*|protestant|baptist|mormon|jewish|judaism|atheis\w*|agnostic|buddhis[tm]|hindu\w*|sikh\w*|vot(?:e|es|ed|ing)|republican|democrat|socialist|communist|trade union)\b/i,
  ],
  [
    "money",
    /\b(?:salary|wages?|income|debts?|mortgage|earn(?:s|ed|ing)?|bank account|overdraft|bankrupt\w*|loans?|inheritance|net worth|savings|payday|credit score|benefits? office|food stamps)\b/i,
  ],
  [
    "sexuality",
    /\b(?:gay|lesbian|bisexual|bi|queer|trans(?:gender)?|non-?binary|asexual|pansexual|closeted|came out|polyamor\w*|divorc\w*)\b/i,
  ],
  [
    "immigration status",
    /\b(?:undocumented|asylum|refugee|deport(?:ed|ation)|overstay\w*|visa (?:status|expired|application)|green card|residence permit|work permit|immigration status)\b/i,
  ],
  [
    "criminal record",
    /\b(?:convict(?:ed|ion|ions)|felon\w*|misdemeanou?r|on parole|on probation|(?:was|were|got|been) (?:arrested|in (?:jail|prison))|criminal record|restraining order|prison sentence)\b/i,
  ],
  [
    "secrets",
    /\b(?:passwords?|passcodes?|pins?(?= (?:code|number|is))|secret|nobody knows|don['’]?t tell any(?:one|body))\b/i,
  ],
];

/** The sensitive kind of a text: "health", "beliefs"; undefined for none. */
export function findSensitiveKind(text: string): string | undefined {
  return SENSITIVE_KINDS.find(([, words]) => words.test(text))?.[0];
}
