import { toBaseForm } from "../../../domain/search/base-forms.ts";
import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import { listAnsweringRelations, toCanonicalThing } from "../relations/relations.ts";

/** Words of a question that name nothing. */
const EMPTY = new Set(
  (
    "a an the my our your his her its their i we you he she it they me us him them myself what which who whom whose where when why how is are am was were be been being do does did done have has had " +
    "can could will would should shall may might must of in on at to for from with by about as into and or but not no any some this that these those there s t m re ve ll d if than so " +
    "kind type sort brand make model name called thing stuff one ones day date time year month week number much many often far long old tell know remember remind said told mention think again still currently now ever already these days also too usually normally " +
    "please hey ok okay exactly actually get got go going went use using call another other own same people like today yesterday tomorrow last next living live work"
  ).split(" "),
);

/** The telling words of a question, stemmed: what an answer must be about. */
export function essence(text: string): string[] {
  return [
    ...new Set(
      splitWords(text)
        .filter((word) => !EMPTY.has(word))
        .map(key),
    ),
  ];
}

/** A word in the form in which two of a kind meet. */
export function key(word: string): string {
  return stem(toCanonicalThing(toBaseForm(word)));
}

/** All words of a text in that form, with their plain stems. */
export function bagOf(text: string): Set<string> {
  const bag = new Set<string>();
  for (const word of splitWords(text)) {
    bag.add(key(word));
    bag.add(stem(word));
    bag.add(stem(toCanonicalThing(word)));
  }
  return bag;
}

const RELATED: readonly (readonly string[])[] = [
  ["job", "work", "profession", "occupation", "employ"],
  ["allergy", "allergic", "intolerant"],
  ["diabetic", "diabetes"],
  ["birthday", "born"],
  ["morning", "breakfast"],
  ["wedding", "marry", "married"],
  ["medicine", "medication", "pill", "tablet", "prescription"],
  ["doctor", "gp"],
  ["flight", "fly", "plane"],
  ["holiday", "trip", "travel"],
  ["exam", "test"],
  ["invoice", "invoicing"],
  ["recipe", "cook", "bake"],
  ["gym", "workout", "train", "exercise"],
  ["film", "movie", "cinema"],
  ["hire", "job"],
  ["buy", "bought", "purchase"],
  ["injury", "injure", "hurt", "break", "sprain"],
  ["dinner", "supper"],
  ["kid", "child", "son", "daughter"],
  ["marathon", "race", "run"],
  ["adopt", "rescue"],
  ["study", "degree", "university", "course"],
  ["speak", "language"],
  ["move", "relocate"],
  ["cost", "price", "pay"],
  ["dislike", "hate", "detest", "loathe", "stand"],
  ["like", "love", "enjoy", "adore", "fan"],
  ["name", "call"],
  ["commute", "cycle", "office"],
  ["rent", "pay"],
  ["debt", "owe"],
  ["repair", "fix", "mend"],
];
const RELATED_TO = new Map<string, Set<string>>();
for (const row of RELATED) {
  for (const word of row)
    RELATED_TO.set(key(word), new Set([...(RELATED_TO.get(key(word)) ?? []), ...row.map(key)]));
}

/** Whether a bag of words holds a word, or one that stands for the same. */
export function holds(bag: ReadonlySet<string>, word: string): boolean {
  return bag.has(word) || forms(word).some((form) => bag.has(form));
}

/** A word and all that stand for the same: "reread" for "read", "wage" for "salary", "adopt" for "own". */
export function forms(word: string): readonly string[] {
  const answering = listAnsweringRelations(word);
  const verbs = answering.filter(
    (relation) => !relation.includes(" ") && relation !== "have" && relation !== "be",
  );
  const related = RELATED_TO.get(word) ?? [];
  return [word, `re${word}`, ...related, ...(answering.length > 1 ? verbs.map(stem) : [])];
}

/** How many of the telling words a bag holds, from 0 to 1; 0 where there are none. */
export function coverage(bag: ReadonlySet<string>, telling: readonly string[]): number {
  if (telling.length === 0) return 0;
  return telling.filter((word) => holds(bag, word)).length / telling.length;
}
