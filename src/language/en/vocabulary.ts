import type { Vocabulary } from "../../ports/language/vocabulary.ts";
import { isDistinctive } from "./distinctive-words.ts";
import { toMeaningKey } from "./paraphrases/meaning-key.ts";
import { listTopics, writeReflection } from "./reflections.ts";
import { getRelation, listAnsweringRelations, listAttributeRelations } from "./relations/relations.ts";
import { listExcluded } from "./relations/states.ts";
import { toStatementKey } from "./statement-key.ts";

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
};
