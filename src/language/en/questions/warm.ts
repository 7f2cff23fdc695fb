import type { QuestionReader } from "../../../ports/language/question-reader.ts";

const START_MS = 100;
/** Names a time, for which the most is loaded, and someone. */
const SAMPLE = "Where did Nora go last week?";

/**
 * What reading a question takes is loaded and compiled by the first one: a third of a second, in which a server answers nobody. It is
 * done a moment after the start.
 */
export function warmed(reader: QuestionReader): QuestionReader {
  setTimeout(() => void reader.read(SAMPLE, { at: new Date(0).toISOString(), known: [] }), START_MS).unref();
  return reader;
}
