import { stripPromptBlocks } from "../../domain/fences.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { maskCredentials } from "../../domain/secrets.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import type { Prompt } from "../../ports/language-model.ts";
import { readSessionTurns } from "../beside/short-term.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";

const MAX_HISTORY_TURNS = 12;
const MAX_HISTORY_TOKENS = 1500;
/** Of so many newest messages it is looked for. */
const HISTORY_LOOKBACK = 100;
/** A silence of half an hour ends a conversation that has no session. */
const SILENCE_MS = 1_800_000;

/**
 * What was said last in a conversation before a message, oldest first: what "the second one" in it means. It is looked for among
 * the newest messages; where much was said elsewhere since, the session is remembered further back.
 */
export async function loadEarlierTurns(
  ports: Pick<Ports, "sessions" | "meter">,
  scope: Scope,
  state: UserState,
  session: string | undefined,
  before: Pick<Message, "turn" | "at">,
): Promise<Prompt["turns"]> {
  const remembered = await readSessionTurns(ports, scope, session, state);
  const turns: Prompt["turns"][number][] = [];
  let tokens = 0;
  let next = before.at;
  for (const message of eachEarlierMessage(state, session, before, remembered)) {
    if (session === undefined && Date.parse(next) - Date.parse(message.at) > SILENCE_MS) break;
    const content = maskCredentials(stripPromptBlocks(message.content)).trim();
    tokens += estimateTokens(content);
    if (turns.length === MAX_HISTORY_TURNS || tokens > MAX_HISTORY_TOKENS) break;
    if (content !== "") turns.unshift({ role: message.role as "user" | "assistant", content });
    next = message.at;
  }
  return turns;
}

/** The messages of a conversation before one of its own. */
function* eachEarlierMessage(
  { messages, searchIndex: block }: UserState,
  session: string | undefined,
  before: Pick<Message, "turn">,
  remembered: readonly Message[],
): Generator<Message, void, void> {
  const first = Math.max(1, before.turn - HISTORY_LOOKBACK);
  for (let turn = before.turn - 1; turn >= first; turn -= 1) {
    // The block counts turns from 0 on.
    const message = messages.get(block.turns.ids.at(turn - 1) ?? "");
    if (message && message.session === session && isSpoken(message)) yield message;
  }
  const older = remembered.filter((message) => message.turn < first && isSpoken(message));
  yield* older.sort((one, other) => other.turn - one.turn);
}

const isSpoken = ({ role, undone }: Message): boolean => !undone && (role === "user" || role === "assistant");
