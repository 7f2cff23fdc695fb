import { inSlices } from "../../../engine/in-slices.ts";
import { turnsOf } from "../memory/conversations.ts";
import { type Dialect, freshIn, type Said } from "./said.ts";
import type { Taken } from "./take.ts";

/** What is said in a request, whichever interface it came by. */
export interface Spoken {
  readonly said: readonly Said[];
  /** What of the conversation the upstream keeps. */
  readonly kept: string | undefined;
  /** What the user says now, with the turn that each is. */
  readonly fresh: readonly { readonly said: Said; readonly turn: string; readonly isOpening: boolean }[];
  /** The same as one text. */
  readonly words: string;
  /** The user's newest words: those of now, or those that the model is still at work on, with tools. */
  readonly newest: { readonly text: string; readonly turn: string };
}

/** So many of the user's words without an answer between them are looked at; what stands before them is history. */
const MOST_FRESH = 100;

export async function spokenIn({ body }: Taken, dialect: Dialect): Promise<Spoken> {
  const said = await inSlices(dialect.said(body));
  const kept = dialect.kept(body);
  const turns = await inSlices(turnsOf(kept, said));
  const isBegun = kept !== undefined || said.some(({ role }) => role === "assistant");
  const first = said.findIndex(({ role }) => role === "user");
  const last = said.findLastIndex(({ role }) => role === "user");
  const fresh = freshIn(said)
    .slice(-MOST_FRESH)
    .flatMap((i) => {
      const one = said[i];
      return one ? [{ said: one, turn: turns[i] ?? "", isOpening: !isBegun && i === first }] : [];
    });
  const words = fresh.map(({ said: { text } }) => text).join("\n");
  const text = fresh.length > 0 ? words : (said[last]?.text ?? "");
  return { said, kept, fresh, words, newest: { text, turn: turns[last] ?? "" } };
}
