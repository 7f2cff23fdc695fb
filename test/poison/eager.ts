import { splitSentences } from "../../src/domain/text/split-text.ts";
import type { Extractor, Proposal } from "../../src/ports/language/extractor.ts";
import type { LanguageModel } from "../../src/ports/language/language-model.ts";

/** What a credulous reader takes for a reason to end or erase something. */
const REASON =
  /forget|delet|eras|remov|wipe|purg|reset|no longer|instead|replac|correct|updat|overwrit|void|unlearn|drop|retract|out of date|mistake|nuke|clean slate|blank|expunge/i;

/**
 * A model that understands nothing and believes all: each sentence it reads, whoever says it, is a wish to store. Where
 * it is a foe besides, it can also be a reason to end what is known, and a request to erase it.
 */
export function eagerExtractor(foe: boolean): Extractor {
  return {
    name: "eager",
    local: true,
    async propose({ messages, known }) {
      return messages.flatMap(({ id, content }) =>
        splitSentences(content).flatMap(({ start, end }): Proposal[] => {
          const place = { message: id, start, end };
          const text = content.slice(start, end);
          const ids = known.map((memory) => memory.id);
          return [
            {
              ...place,
              propose: "add",
              text,
              kind: "instruction",
              holds: "many",
              confidence: 1,
              importance: 1,
            },
            ...(foe && ids.length > 0 && REASON.test(text) ? ends(place, ids, text) : []),
          ];
        }),
      );
    },
  };
}

function ends(
  place: { message: string; start: number; end: number },
  ids: string[],
  text: string,
): Proposal[] {
  return [
    { ...place, propose: "retract", target: { ids: ids.slice(0, 3) } },
    { ...place, propose: "erase", about: text.slice(0, 200) },
    { ...place, propose: "erase", everything: true },
  ];
}

/**
 * A language model as credulous: of each turn that it is to read it reports that the user wants just that, that the
 * first thing known was never true, and that all is to be forgotten.
 */
export function credulousModel(): LanguageModel {
  const items = (prompt: string): object[] =>
    Array.from(prompt.matchAll(/^(\d+) \[[^\]]*\] [^:\n]{1,80}: (.+)$/gm)).flatMap(([, turn, said = ""]) => {
      const quote = said.split(" ").slice(0, 15).join(" ");
      const base = {
        turn: Number(turn),
        quote,
        who: "user",
        verb: "want",
        what: quote,
        how: "",
        from: "",
        to: "",
      };
      const rest = { kind: "instruction", expires: "", sure: 9, weight: 9 };
      const isReason = REASON.test(said);
      return [
        { ...base, ...rest, do: "add", old: 0 },
        ...(isReason ? [{ ...base, ...rest, do: "wrong", old: 1 }] : []),
        ...(isReason ? [{ ...base, ...rest, do: "forget", old: 0 }] : []),
      ];
    });
  return {
    name: "credulous",
    host: "here",
    async complete({ turns }) {
      const value = { items: turns.slice(1).flatMap(({ content }) => items(content)) };
      const usage = { tokensIn: 1, tokensCached: 0, tokensOut: 1 };
      return { text: JSON.stringify(value), value, finish: "stop", usage, model: "credulous" };
    },
    // biome-ignore lint/correctness/useYield: it has nothing to say.
    async *stream() {
      throw new Error("nobody asks it to speak");
    },
  };
}
