import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findTopic, TOPICS } from "../topics.ts";

/** A kind of things: the nouns that ask for it, and words that statements of the kind contain. */
interface ThingKind {
  readonly names: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

const toStems = (words: string): ReadonlySet<string> => new Set(splitWords(words).map(stem));

/** To add a kind, add a row. The names count as words of it too. */
const KINDS: readonly ThingKind[] = (
  [
    [
      "car vehicle driving van motorbike",
      "mot garage mechanic brake brakes tyre tyres tire clutch gearbox engine suspension exhaust mileage battery bumper " +
        "windscreen insurance petrol diesel odometer drive drives driving skoda octavia golf volvo toyota honda ford fiat " +
        "fiesta corsa polo passat yaris civic clio panda audi bmw mercedes kia hyundai mazda tesla renault peugeot citroen dacia",
    ],
    [
      "pay salary wage wages income earnings earn money compensation",
      "make makes making earn earns pay pays 13th base bonus k gross net month payslip raise hourly salary paid commission stipend band per annum",
    ],
    [
      "faith religion religiousness religious belief beliefs church",
      "kosher halal jewish muslim christian catholic hindu sikh buddhist atheist mosque church temple synagogue fasting imam mass quran koran bible torah imam priest pastor rabbi mass confession baptism baptised " +
        "convert converted ramadan lent fasting pray prayer prayers sunday-school gospel hijab communion sermon parish",
    ],
    [
      "politics political vote voted voting party election",
      "greens labour tory tories conservative conservatives liberal liberals republican democrat democrats socialist " +
        "candidate council referendum protest march campaign union canvassing",
    ],
    [
      "drinking alcohol drink addiction sobriety rehab",
      "sober aa sponsor relapse relapsed meeting meetings steps detox clean wine vodka beer booze whisky bottle chip days",
    ],
    [
      "pregnancy pregnant miscarriage baby expecting fertility ivf",
      "pregnant due scan ultrasound midwife trimester weeks miscarried lost embryo clinic expecting baby test",
    ],
    [
      "inheritance inherit debt debts arrears rent loan loans owing money finances finance financial mortgage",
      "inherited owe owes owed behind arrears overdraft bailiff bailiffs card instalment interest repay arrears collector bankrupt savings credit",
    ],
    [
      "ex breakup partner boyfriend girlfriend relationship dating marriage divorce affair husband wife",
      "ex split broke dumped dating hinge tinder cheated kissed crush separated custody lawyer engaged together moved left years cheating affair",
    ],
    [
      "blood results test tests lab result labs bloods screening",
      "ferritin hba1c hdl ldl cholesterol tsh glucose haemoglobin hemoglobin iron vitamin b12 crp psa count platelets mmol range positive negative",
    ],
    [
      "therapy therapist counselling counsellor mental depression anxiety panic psychologist psychiatrist",
      "voices psychiatrist dose therapist session sessions sertraline antidepressant citalopram panic attack attacks anxious depressed counsellor cbt burnout breakdown",
    ],
    [
      "medication medicine medicines drugs meds pills prescription tablets dose",
      "mg tablet tablets dose adhd ritalin insulin metformin statin inhaler pill pills antibiotic prescribed side effects mornings takes take taking morning evening daily twice",
    ],
    [
      "health illness condition diagnosis medical sick disease sickness",
      "dementia stroke adhd dyslexia autism depression diagnosed surgery operation hospital clinic doctor gp scan mri biopsy lump seizure epilepsy diabetes insulin allergy " +
        "asthma migraine cancer chemo injection cortisone knee hiv infection specialist flare symptoms",
    ],
    [
      "get in access entry entrance key keys door lock",
      "push bird house gate hard alarm key pot mat under code gate door keypad lock lockbox buzzer spare alarm intercom fob",
    ],
    [
      "legal lawsuit court case police lawyer trial arrest",
      "lawyer solicitor court judge hearing sue sued suing settlement police charge charged arrested caution witness statement bail",
    ],
    [
      "job boss work workplace career interview employer colleague",
      "manager boss resign resigned notice fired interview recruiter offer promotion redundancy hr colleague office shift warning",
    ],
    [
      "address home live house where flat",
      "street road lane avenue close drive square flat apartment postcode moved live",
    ],
    [
      "weight diet eating body",
      "kg kilos pounds stone lbs calories bmi scale weigh weighed binge keto fasting",
    ],
    [
      "exam exams grades grade marks school results study",
      "failed passed resit grade mark percent distinction essay exam module retake score",
    ],
    [
      "driving drunk speeding licence fine",
      "licence license checkpoint blew breathalyser police court points banned speeding",
    ],
    [
      "arrest arrested prison jail crime criminal conviction record",
      "charges charge dropped police prison jail inside fraud sentence sentenced convicted probation theft stole arrested",
    ],
    [
      "drugs drug weed substance",
      "weed cocaine pills joint joints high stoned dealer mdma heroin coke fine border smoked smoking vaping caught police",
    ],
    [
      "money finances financial savings",
      "savings owe owes borrowed card maxed overdraft broke loan debt bills behind salary skint bankrupt fine",
    ],
    [
      "lung heart kidney liver breast prostate brain cancer tumour tumor",
      "scan shadow biopsy results lump spot chemo radiation surgeon consultant benign malignant oncology oncologist mammogram",
    ],
    ["fertility ivf", "pcos amh letrozole embryo transfer eggs sperm clinic cycle follicles clomid"],
    ["doctor gp physician surgeon nurse", "dr doctor gp surgery practice consultant"],
    [
      "wedding marriage",
      "counsellor argue arguing row rows separate rooms wedding venue band caterer dress guests ceremony seating florist bridesmaid ceilidh reception invitations rsvp",
    ],
  ] as const
).map(([names, words]) => ({
  names: toStems(names),
  words: toStems(`${names} ${words}`.replace(/^get in /, "")),
}));

/** The words of the kinds of things that a description names, as stems. Empty if it names none. */
export function findKindWords(phrase: string): ReadonlySet<string> {
  const terms = extractTerms(phrase);
  const found = new Set<string>();
  for (const term of terms) {
    const kinds = KINDS.filter(({ names }) => names.has(term));
    for (const word of kinds.flatMap(({ words }) => [...words])) found.add(word);
    if (kinds.length > 0) continue;
    const topic =
      findTopic(term) ??
      [...TOPICS.values()].find(({ names }) => [...names].some((name) => stem(name) === term));
    for (const word of topic?.stems ?? []) found.add(word);
  }
  return found;
}
