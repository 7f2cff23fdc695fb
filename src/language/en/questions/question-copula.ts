import type { Question } from "../../../ports/language/question-reader.ts";
import { joinSpan } from "../grammar/clauses/head-words.ts";
import type { Token } from "../grammar/words/token.ts";
import { listAttributeRelations, toCanonicalThing } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import { type Asking, askedFor, type Frame, headOf, narrowing, pathAt, topicPart } from "./question-parts.ts";
import { withAnswers } from "./question-relations.ts";

type Common = Pick<Question, "asks" | "topic" | "narrows" | "tense">;

const PARTICIPLE =
  /^(?:called|named|due|married|allergic|subscribed|engaged|born|based|scared|afraid|from|located|scheduled|into|registered|interested|diagnosed|insured|fluent|employed|parked|held|booked|set|moored|kept|stored|hidden|buried|planted|listed)$/;

/** "What is my sister's job?", "What colour is my car?", "Who is my mortgage with?" */
export function copulaQuestion(
  asking: Asking,
  frame: Frame,
  place: { start: number; end: number; auxiliary: string },
): Question {
  const { start, end, auxiliary } = place;
  const rest = asking.tokens.slice(end);
  const common: Common = {
    asks: askedFor(frame),
    ...topicPart(frame),
    ...narrowing(asking, end),
    tense: /^(?:was|were)$/.test(auxiliary) ? "past" : "present",
  };
  const subject = pathAt(asking, start, end);
  const participle = rest.find(({ lower }) => PARTICIPLE.test(lower));
  if (participle?.lower === "called" || participle?.lower === "named") {
    return { ...common, ...(subject ? { subject } : {}), relations: ["be called"] };
  }
  const tail = rest.at(-1);
  const stranded = frame.stranded ?? (tail?.class === "preposition" ? tail.lower : undefined);
  if (participle && subject) {
    return { ...common, subject, relations: participleRelations(rest, participle, stranded) };
  }
  if (stranded && subject) return { ...common, subject, relations: withAnswers(`be ${stranded}`) };
  return attributeQuestion(asking, frame, { start, end, subject, common });
}

/** "is … due", "was … born in" */
function participleRelations(
  rest: readonly Token[],
  participle: Token,
  stranded: string | undefined,
): string[] {
  const { lower } = participle;
  const next = rest[rest.indexOf(participle) + 1];
  const joint = stranded ?? (next?.class === "preposition" ? next.lower : undefined);
  const relation = joint && joint !== lower ? `be ${lower} ${joint}` : `be ${lower}`;
  const more = MORE_RELATIONS[lower] ?? [];
  return [...new Set([...withAnswers(relation), `be ${lower}`, ...more])];
}

const MORE_RELATIONS: Readonly<Record<string, readonly string[]>> = {
  due: ["be due on", "be due in", "be on", "be"],
  born: ["be born in", "be born on", "be from"],
};

const OF_THINGS = ["be", "be called", "be in", "be on", "be from", "be with", "be of"];
const OF_PERSONS_WHERE = ["live in", "live at", "live on", "be in", "work at", "be at", "move to"];
/** "Where am I?" is asked of the moment. */
const OF_ONESELF_WHERE = ["be in", "be at", "be on", "stay in", "stay at", ...OF_PERSONS_WHERE];
const BY_QUESTION: Readonly<Record<string, readonly string[]>> = {
  who: ["be called", "be"],
  when: ["be on", "be due on", "be", "be at", "be in"],
  where: ["be in", "be at", "be on", "live in", "be near", "be from", "be", "live at", "work at", "move to"],
};
const OF_ANYTHING = ["be", "be called", "be on", "be due on", "be with", "be in", "be at"];

interface Attribute {
  readonly start: number;
  readonly end: number;
  readonly subject: string | undefined;
  readonly common: Common;
}

/** "my job", "my cat's name", "my favourite book": an attribute of somebody, or a thing itself. */
function attributeQuestion(
  asking: Asking,
  frame: Frame,
  { start, end, subject, common }: Attribute,
): Question {
  if (subject === undefined) {
    return { ...common, relations: [], topic: common.topic ?? joinSpan(asking.tokens, [start, end]) };
  }
  const isOfKind = frame.topic !== "" && !["how", "who"].includes(frame.wh) && common.asks !== "when";
  if (isOfKind) return { ...common, subject, relations: OF_THINGS };
  const isAge = frame.wh === "how" && /^old/.test(frame.topic);
  if (!subject.includes("/")) return { ...common, subject, relations: ofPerson(frame, isAge, subject) };
  const quality = qualityOf(asking, subject);
  if (quality) return { ...common, subject: quality.subject, relations: OF_THINGS, topic: quality.topic };
  const noun = canonicalNoun(headOf(asking.tokens, start, end));
  const owned = ofOwner(noun, subject, common);
  if (owned) return owned;
  if (isAge) return { ...common, asks: "how_many", subject, relations: ["be aged", "be", "turn"] };
  return { ...common, subject, relations: BY_QUESTION[frame.wh] ?? OF_ANYTHING, topic: common.topic ?? noun };
}

function ofPerson({ wh }: Frame, isAge: boolean, subject: string): readonly string[] {
  if (isAge) return ["be aged", "be"];
  if (wh !== "where") return ["be", "be called"];
  return subject === "user" ? OF_ONESELF_WHERE : OF_PERSONS_WHERE;
}

/** "my peanut allergy", "my ADHD diagnosis": of all of the kind the one that is named. */
const NARROWED =
  /^(?!(?:main|worst|only|biggest|food|drug|new|old|other|current) )(?<which>\S+(?: \S+)?) (?<head>allergy|diagnosis|intolerance|phobia|addiction|subscription|membership|status)$/;

/** "my sister's job" is asked of the sister. */
function ofOwner(noun: string, subject: string, common: Common): Question | undefined {
  const owner = subject.split("/").slice(0, -1).join("/");
  if (/^(?:(?:full|first|real) )?names?$/.test(noun)) {
    return { ...common, subject: owner, relations: ["be called"] };
  }
  const told = NARROWED.exec(noun)?.groups;
  if (told?.which && told.head)
    return {
      ...common,
      asks: "yes_no",
      subject: owner,
      relations: [...listAttributeRelations(told.head)],
      value: told.which,
    };
  const whole = listAttributeRelations(noun);
  const relations = whole.length > 0 || noun.includes(" ") ? whole : listAttributeRelations(toSingular(noun));
  if (relations.length === 0) return undefined;
  return { ...common, subject: owner, relations, topic: common.topic ?? noun };
}

/** "my hair colour" is the colour of the hair, where something is known of the hair and nothing under that name. */
function qualityOf({ context }: Asking, subject: string): { subject: string; topic: string } | undefined {
  const found =
    /^(?<owner>.*\/)(?<thing>[^/]+) (?<topic>colou?r|size|breed|brand|make|model|length|price)$/.exec(
      subject,
    )?.groups;
  if (!found?.owner || !found.thing || !found.topic) return undefined;
  const subjects = new Set(context.known.flatMap(({ claim }) => claim?.subject.toLowerCase() ?? []));
  if (subjects.has(subject.toLowerCase())) return undefined;
  const last = found.thing.split(" ").at(-1) ?? "";
  const thing = [found.thing, last]
    .map((noun) => `${found.owner}${noun}`)
    .find((path) => subjects.has(path.toLowerCase()));
  return thing === undefined ? undefined : { subject: thing, topic: found.topic };
}

function canonicalNoun(head: string): string {
  const thing = toCanonicalThing(head);
  if (thing === "work") return "job";
  return listAttributeRelations(head).length > 0 ? head : thing;
}
