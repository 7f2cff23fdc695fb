import { toSecondPerson, toSentence } from "../../../../domain/text/english-forms.ts";
import { toLocalTime } from "../../../../domain/time.ts";
import type { ComposedText } from "../../../../ports/language/answerer.ts";
import { formatDateInWords } from "../../format-date.ts";
import type { Evidence, Findings } from "./evidence.ts";
import type { Statement } from "./statements.ts";

/** An answer, and whether it is sure. */
export interface EvidenceAnswer extends ComposedText {
  readonly isSure: boolean;
}

/** The probability from which an answer is sure, and from which something found is quoted. Calibrated by `scripts/answers/fit.ts`. */
const SURE = 0.7;
const FOUND = 0.12;
/** Of what a list holds. */
const LISTED = 0.35;
const MAX_LISTED = 12;

/** Of statements that are about as probable, the newest is taken; of what was said in one breath, what is composed or short. */
const CLOSE = 0.85;
const SAME = 0.9;

/** The answer that the best evidence carries: sure, or quoted with a doubt; nothing where nothing is about the question. */
export function answerFromEvidence({ inquiry, evidence }: Findings): EvidenceAnswer | undefined {
  const best = chooseBest(evidence);
  if (!best || best.probability < FOUND) return undefined;
  if (best.probability < SURE) {
    const { statement } = best;
    return {
      text: `I'm not certain. ${quote(statement)}`,
      used: statement.said?.used ?? [statement.id],
      isSure: false,
    };
  }
  const chosen = inquiry.asksMany ? chooseAll(evidence, best) : [best];
  return {
    text: [...new Set(chosen.map(({ statement }) => say(statement)))].join(" "),
    used: [...new Set(chosen.flatMap(({ statement }) => statement.said?.used ?? statement.id))],
    isSure: true,
  };
}

/** The statement to answer with: the newest of those that come close to the most probable; of one breath, the one that is said best. */
export function chooseBest(evidence: readonly Evidence[]): Evidence | undefined {
  const [first] = evidence;
  if (!first) return undefined;
  const newest = evidence
    .filter(({ probability }) => probability >= CLOSE * first.probability)
    .reduce((best, one) => (one.statement.at > best.statement.at ? one : best), first);
  const order = { claims: 0, memory: 1, sentence: 2 };
  return evidence
    .filter(
      ({ statement, probability }) =>
        statement === newest.statement ||
        (probability >= SAME * newest.probability && isSameBreath(statement, newest.statement)),
    )
    .sort((one, other) => order[one.statement.from] - order[other.statement.from])[0];
}

/** All that a list holds, each once. */
function chooseAll(evidence: readonly Evidence[], best: Evidence): Evidence[] {
  const chosen: Evidence[] = [best];
  for (const one of evidence) {
    if (chosen.length >= MAX_LISTED || one.probability < LISTED) break;
    if (!chosen.some(({ statement }) => isSameBreath(statement, one.statement))) chosen.push(one);
  }
  return chosen;
}

function isSameBreath({ source: one }: Statement, { source: other }: Statement): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.message === other.message &&
    one.start < other.end &&
    other.start < one.end
  );
}

function say(statement: Statement): string {
  if (statement.said) return statement.said.text;
  return statement.from === "memory" ? toSentence(toSecondPerson(statement.text)) : quote(statement);
}

function quote({ said, from, text, lead, at, zone, speaker, source }: Statement): string {
  if (said) return said.text;
  const day = formatDateInWords(toLocalTime(at, zone).slice(0, 10), { weekday: false });
  if (from === "memory") return toSentence(toSecondPerson(text));
  return `On ${day} ${speaker ?? "you"} said: “${lead === "" ? text : `${lead} ${text}`}”`;
}
