import type { Memory } from "../../domain/memory.ts";
import type { ReflectionDraft, Vocabulary } from "../../ports/language/vocabulary.ts";
import { isDistinctive } from "./distinctive-words.ts";
import { toMeaningKey } from "./paraphrases/meaning-key.ts";
import { englishPhrases } from "./phrases.ts";
import { getRelation, listAnsweringRelations, listAttributeRelations } from "./relations/relations.ts";
import { listExcluded } from "./relations/states.ts";
import { toStatementKey } from "./statement-key.ts";
import { topicsOf } from "./topics.ts";
import { toSentence } from "./word-forms.ts";

/** The topics that a memory is about; none for what fits nowhere. Secrets are summed up nowhere. */
function listTopics(memory: Memory): string[] {
  const topics = [...topicsOf(memory)];
  return topics.includes("secrets") ? [] : topics;
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** "In March 2026, about work: The user works at Vantor. The user has a new boss. And 3 more." */
function writeReflection({ topic, month, statements, total }: ReflectionDraft): string {
  const [year, number] = month.split("-");
  const said = statements.map(toSentence).join(" ");
  const more = total > statements.length ? ` And ${total - statements.length} more.` : "";
  return `In ${MONTHS[Number(number) - 1]} ${year}, about ${topic}: ${said}${more}`;
}

/** What English words mean to a memory. */
export const englishVocabulary: Vocabulary = {
  getRelation,
  listExcluded,
  listAnsweringRelations,
  listAttributeRelations,
  isDistinctive,
  toStatementKey,
  toMeaningKey,
  listTopics,
  writeReflection,
  phrases: englishPhrases,
};
