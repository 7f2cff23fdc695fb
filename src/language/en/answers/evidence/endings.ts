import type { Embedder } from "../../../../ports/language/embedder.ts";
import { type RateWindow, rateTexts } from "../../transformer/reader.ts";
import { ROLES, type TextToRead, toRoledPieces } from "../../transformer/windows.ts";
import type { EvidenceStatement } from "./statements.ts";

/** The probability from which a later statement is taken to end an earlier one, by a reading that `scripts/reader/train_tops.py` trains. */
const ENDS = 0.8;
/** Later statements that are compared with one that would answer. Of 89 endings in written conversations none was the seventh or farther. */
const MOST_COMPARED = 6;
/** A statement that is farther from the earlier one and from the question is about something else. */
const LEAST_NEAR = 0.1;
/** Word pieces of a statement that are read. */
const MOST_PIECES = 60;

/**
 * What the user said later that ended an earlier statement: "they moved me over to apixaban", of "I take warfarin". Of `said`, the
 * sentences that come nearest to the statement and to the question are compared, each in some 10 ms; `read` is what the reader makes of one
 * as an answer, `isOfOther` whether it is about another memory. Undefined where the statement still holds.
 */
export async function findEnding(
  {
    embedder,
    rateWindow,
  }: { readonly embedder: Pick<Embedder, "embed" | "local">; readonly rateWindow?: RateWindow },
  earlier: { readonly text: string; readonly at: string },
  said: readonly EvidenceStatement[],
  {
    read,
    isOfOther,
  }: {
    readonly read: (statement: EvidenceStatement) => number;
    readonly isOfOther: (statement: EvidenceStatement) => boolean;
  },
): Promise<EvidenceStatement | undefined> {
  const later = said.filter(
    ({ from, at, text }) => from === "sentence" && at > earlier.at && !text.trim().endsWith("?"),
  );
  if (later.length === 0) return undefined;
  const texts = [earlier, ...later].map(({ text }) => text);
  const [own, ...vectors] = embedder.local ? await embedder.embed(texts) : [];
  const nearness = new Map(
    later.map((statement, i) => [
      statement,
      read(statement) + (own && vectors[i] ? dot(own, vectors[i]) : 0),
    ]),
  );
  const nearest = later
    .filter((statement) => (nearness.get(statement) ?? 0) >= LEAST_NEAR)
    .sort((one, other) => (nearness.get(other) ?? 0) - (nearness.get(one) ?? 0))
    .slice(0, MOST_COMPARED);
  let best: { readonly statement: EvidenceStatement; readonly by: number } | undefined;
  for (const statement of nearest) {
    // They come the nearest first: even a certain ending that is so far would come behind the best.
    if (best && 1 + (nearness.get(statement) ?? 0) <= best.by) break;
    if (isOfOther(statement)) continue;
    const probability = await rateEnding(earlier.text, statement.text, rateWindow);
    const by = probability + (nearness.get(statement) ?? 0);
    if (probability >= ENDS && by > (best?.by ?? 0)) best = { statement, by };
  }
  return best?.statement;
}

/** The probability that a later statement ends an earlier one. */
export async function rateEnding(earlier: string, later: string, rate?: RateWindow): Promise<number> {
  const said = toRoledPieces(later, ROLES.user, MOST_PIECES);
  if (said.tokens.length === 0) return 0;
  const text: TextToRead<undefined> = {
    entries: [{ ...said, clauses: [[0, said.tokens.length]] }],
    clauses: [undefined],
    promise: 0,
  };
  const [rated] = await rateTexts<undefined, TextToRead<undefined>>(
    toRoledPieces(earlier, ROLES.question, MOST_PIECES),
    [text],
    "ends",
    rate,
  );
  return rated?.probability ?? 0;
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0);
}
