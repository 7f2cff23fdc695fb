import { withoutFences } from "../../domain/fences.ts";
import type { Message } from "../../domain/message.ts";
import { masked } from "../../domain/secrets.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import type { Prompt } from "../../ports/language-model.ts";
import type { UserState } from "../user-state.ts";

const MOST_TURNS = 12;
const MOST_TOKENS = 1500;
/** Of so many newest messages it is looked for. */
const LOOKED_AT = 100;
/** A silence of half an hour ends a conversation that has no session. */
const SILENCE_MS = 1_800_000;

/** What was said last in a conversation before a message, oldest first: what "the second one" in it means. */
export function earlierTurns(
  { messages, block }: UserState,
  session: string | undefined,
  before: Pick<Message, "turn" | "at">,
): Prompt["turns"] {
  const turns: Prompt["turns"][number][] = [];
  let tokens = 0;
  let next = before.at;
  for (let turn = before.turn - 1; turn >= Math.max(1, before.turn - LOOKED_AT); turn -= 1) {
    // The block counts turns from 0 on.
    const message = messages.get(block.turns.ids[turn - 1] ?? "");
    if (message?.session !== session || !message || !isSpoken(message)) continue;
    if (session === undefined && Date.parse(next) - Date.parse(message.at) > SILENCE_MS) break;
    const content = masked(withoutFences(message.content)).trim();
    tokens += estimateTokens(content);
    if (turns.length === MOST_TURNS || tokens > MOST_TOKENS) break;
    if (content !== "") turns.unshift({ role: message.role as "user" | "assistant", content });
    next = message.at;
  }
  return turns;
}

const isSpoken = ({ role, undone }: Message): boolean => !undone && (role === "user" || role === "assistant");
