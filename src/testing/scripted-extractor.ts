import type { Extractor, Proposal } from "../ports/extractor.ts";
import type { QuestionReader } from "../ports/question-reader.ts";

/**
 * An extractor for tests of the engine. It knows four sentences and proposes nothing else: "I use A and B.",
 * "I live in A.", "I don't use A anymore.", "Forget A."
 */
export function scriptedExtractor(): Extractor {
  return {
    name: "scripted",
    local: true,
    async propose({ messages }) {
      return messages.flatMap(({ id, content }) =>
        Array.from(content.matchAll(/[^.!?]+[.!?]?/g)).flatMap(({ 0: sentence, index }) => {
          const start = index + (sentence.length - sentence.trimStart().length);
          return readSentence({ message: id, start, end: index + sentence.length }, sentence.trim());
        }),
      );
    },
  };
}

function readSentence(place: { message: string; start: number; end: number }, sentence: string): Proposal[] {
  const common = { ...place, kind: "fact", confidence: 0.9, importance: 0.5 } as const;
  const adds = (relation: string, values: readonly string[], holds: "one" | "many"): Proposal[] =>
    values.map((value) => ({
      ...common,
      propose: "add",
      text: `The user ${relation}s ${value}.`,
      claim: { subject: "user", relation, value },
      holds,
    }));
  const ended = /^I don't use (\w+) anymore/.exec(sentence);
  if (ended?.[1])
    return [
      { ...place, propose: "supersede", target: { subject: "user", relation: "use", value: ended[1] } },
    ];
  const used = /^I use (\w+)(?: and (\w+))?/.exec(sentence);
  if (used)
    return adds(
      "use",
      used.slice(1).filter((value) => value !== undefined),
      "many",
    );
  const lived = /^I live in (\w+)/.exec(sentence);
  if (lived?.[1]) return adds("live in", [lived[1]], "one");
  const erased = /^Forget (\w+)/.exec(sentence);
  if (erased?.[1] === "everything") return [{ ...place, propose: "erase", everything: true }];
  if (erased?.[1] === "this") return [{ ...place, propose: "erase" }];
  return erased?.[1] ? [{ ...place, propose: "erase", about: erased[1] }] : [];
}

/** Reads nothing out of a question: recall and answers then rest on words and vectors alone. */
export function blankQuestionReader(): QuestionReader {
  return {
    isQuestion: (message) => message.trim().endsWith("?"),
    read: () => ({ asks: "unknown", relations: [] }),
  };
}
