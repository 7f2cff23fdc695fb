import type { Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isOfTopic, TOPICS } from "../topics.ts";
import { GRADE } from "./asked.ts";

/** What people call a topic of somebody: "my mum's illness", "Teo's job". Only words that mean the topic as a whole. */
const NAMES: Readonly<Record<string, string>> = {
  health:
    "health illness illnesses sickness disease diseases condition conditions injury injuries diagnosis ailment ailments " +
    "treatment medication medicines",
  work: "job jobs work career profession occupation employment employer workplace",
  study: "studies study education grades grade marks school exams degree schooling",
  beliefs: "religion faith beliefs politics views",
  money: "money finances salary debts debt income pay wages",
  home: "address home house flat apartment",
  relationships: "marriage divorce relationship relationships engagement",
  hobbies: "hobby hobbies pastimes",
  food: "diet",
  pets: "pet pets",
};

const OF =
  /^(?:(?:my|our|the)\s+)?(?<who>\p{L}[\p{L}'’-]*?(?:[ -]in-law)?)(?:['’]s|(?<=s)['’])\s+(?:(?:whole|entire|bad|serious|medical|mental|physical|current|home(?= address))\s+)*(?<noun>\p{L}+)(?:\s+(?:problems?|issues?|history|situation|state|troubles?|results?|information|details))?$/iu;
const BEHIND = /^(?:the\s+)?(?<noun>\p{L}+) of (?:(?:my|our)\s+)?(?<who>\p{L}[\p{L}'’-]*(?:[ -]in-law)?)$/iu;

/** What is told of one person and one topic: "my mum's illness", "the address of my aunt", "Teo's job". */
export function ofPerson(state: StoredContent, phrase: string): Memory[] {
  const plain = phrase.trim().replace(/[.!?]+$/, "");
  const { who, noun } = OF.exec(plain)?.groups ?? BEHIND.exec(plain)?.groups ?? {};
  const topicName = Object.entries(NAMES).find(([, names]) =>
    names.split(" ").includes(noun?.toLowerCase() ?? ""),
  );
  const topic = topicName && TOPICS.get(topicName[0]);
  if (who === undefined || !topic) return [];
  const subjects = subjectsOf(state, who);
  return [...state.memories.values()].filter((memory) => {
    const { claim } = memory;
    if (!claim) return false;
    const subject = claim.subject.toLowerCase();
    const person = subjects.find((one) => subject === one || subject.startsWith(`${one}/`));
    if (person === undefined) return false;
    // Who it is told of is no word of the topic: a mum is family, whatever is said of her.
    const part = subject.slice(person.length + 1);
    if (topic.name === "study" && GRADE.test([claim.value, claim.qualifier].join(" ").trim())) return true;
    const text = [claim.relation, claim.value, claim.qualifier].join(" ");
    return isOfTopic(topic, { text, claim: { ...claim, subject: part } });
  });
}

/** The names of a person's kin that are one. */
const SAME: readonly (readonly string[])[] = [
  ["mum", "mom", "mother", "mummy", "mommy", "mam", "ma"],
  ["dad", "father", "daddy", "papa", "pa"],
  ["grandma", "grandmother", "gran", "granny", "nan", "nana"],
  ["grandpa", "grandfather", "grandad", "granddad"],
  ["husband", "hubby"],
  ["kid", "child"],
  ["aunt", "auntie"],
];

/** The subjects, lower case, that memories of this person have: by kinship or by name. */
function subjectsOf({ memories }: StoredContent, who: string): string[] {
  const plain = splitWords(who).join(" ");
  const kin = SAME.find((names) => names.includes(plain)) ?? [plain];
  const called = [...memories.values()].flatMap(({ claim }) =>
    claim?.relation === "be called" && splitWords(claim.value).includes(plain)
      ? [claim.subject.toLowerCase()]
      : [],
  );
  return [...new Set([plain, ...kin.map((name) => `user/${name}`), ...called])];
}
