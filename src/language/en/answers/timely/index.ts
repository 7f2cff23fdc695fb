import { sayOne } from "../say.ts";
import { besideAnswer } from "./beside.ts";
import { measuredAnswer } from "./measured.ts";
import { placeInTime } from "./moments.ts";
import type { TimelyAnswer, TimelyAsking } from "./timely.ts";
import { withinAnswer } from "./within.ts";

export type { TimelyAnswer, TimelyAsking } from "./timely.ts";

/**
 * Answers what asks about times: beside something else ("before Porto"), within a span ("in 2021"), for a length
 * ("how long"), or for the first or last of several. Nothing where the question asks none of it, or nothing was found.
 */
export async function timelyAnswer(asking: TimelyAsking): Promise<TimelyAnswer> {
  return (
    (await besideAnswer(asking)) ??
    measuredAnswer(asking) ??
    orderedAnswer(asking) ??
    (asking.looking.asOf === undefined ? await withinAnswer(asking) : undefined)
  );
}

/** "When did I last go to the opera?": of all times told the last, and no later than now. */
function orderedAnswer({ read, text, look, looking }: TimelyAsking): TimelyAnswer {
  const { order } = read;
  if (order === undefined) return undefined;
  const bare = text.replace(/\b(?:first|last|latest|most recent(?:ly)?|previous)(?: time)?\b/gi, " ");
  const now = looking.asOf ?? looking.now;
  const dated = look(bare, { ...read, ...(read.topic ? { topic: read.topic } : {}) })
    .found.map(({ memory }) => memory)
    .filter((memory) => memory.when !== undefined && (read.tense !== "past" || memory.when <= now))
    .sort((a, b) => (placeInTime(a) < placeInTime(b) ? -1 : 1));
  const best = order === "first" ? dated[0] : dated.at(-1);
  return best && { text: sayOne(best, read, text), used: [best.id] };
}
