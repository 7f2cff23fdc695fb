import type { Vocabulary } from "../../ports/language/vocabulary.ts";
import { isDistinctive } from "./distinctive-words.ts";
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
};
