import { MAX_TOMBSTONE_WORDS } from "../../domain/change-set.ts";
import { isUnspaced, splitWords } from "../../domain/search/search-terms.ts";

/**
 * Whether words are distinctive enough to erase wherever they occur: not "5", "yes" or "a lot". Such a value
 * is erased only where it was said about the selected subject.
 */
export function isDistinctive(text: string): boolean {
  const words = splitWords(text);
  if (words.length === 0 || words.length > MAX_TOMBSTONE_WORDS) return false;
  return words.some(
    (word) =>
      word.length >= (isUnspaced(word) ? 2 : 3) &&
      !COMMON_WORDS.has(word) &&
      (/\d{3,}/.test(word) || /\p{L}/u.test(word)),
  );
}

/** Words found in everybody's sentences: alone they identify nothing and are not searched for. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "the and for are was not yes you your our his her its their this that these those all any some one two three " +
    "four five six seven eight nine ten day days week weeks month months year years today tomorrow yesterday morning " +
    "evening night monday tuesday wednesday thursday friday saturday sunday good bad big small new old long short " +
    "home work school office house flat room city town place thing things lot lots much many more most less very " +
    "really always never often sometimes here there now then again red blue green black white brown grey gray " +
    "yellow car bike dog cat tea coffee water food money time people person man woman boy girl friend friends " +
    "family happy sad tired busy fine okay"
  ).split(" "),
);
