// Counts what is taken for a request to forget in real chats, in which nobody asks to forget:
// node scripts/forgetting/count-in-chats.ts [--data DIR] [--ids odd|even|all] [--set NAME] [--every N] [--remember sure|all]
//   [--most-erased N] [--most-doubted PER_1000]
// The recogniser reads each message beside the turns before it. A request that it is sure of is carried out where something is
// found; one that it doubts is counted if it would be asked back or called unmet beside the messages before it. `--remember` also writes chats to a memory: those with a sure
// request, or all. `--every` takes each N-th message. Sentences are shown for odd numbers only. Ends with 1 above a bar.
import { parseArgs } from "node:util";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { passingSecret } from "../../src/adapters/system/index.ts";
import type { Message } from "../../src/domain/message.ts";
import { NOTHING_TO_ERASE } from "../../src/domain/receipt.ts";
import { assessRequest } from "../../src/engine/erase/assess-request.ts";
import type { UserState } from "../../src/engine/user-state/user-state.ts";
import { createMemory } from "../../src/index.ts";
import { englishForgetRequests } from "../../src/language/en/forget-requests/forget-requests.ts";
import { findErasures } from "../../src/language/en/grammar/rules.ts";
import { rulesQuestionReader } from "../../src/language/en/questions/questions.ts";
import type { EraseProposal } from "../../src/ports/language/extractor.ts";
import { type Half, type NumberedChat, readChats, userTurns } from "./chats.ts";

const { values: options } = parseArgs({
  options: {
    data: { type: "string", default: "../shared/data" },
    ids: { type: "string", default: "odd" },
    set: { type: "string" },
    every: { type: "string", default: "1" },
    remember: { type: "string" },
    "most-erased": { type: "string" },
    "most-doubted": { type: "string" },
  },
});

/** From this confidence on, the engine carries out a request of which something is found. */
const SURE = 0.98;

interface Tally {
  messages: number;
  /** Requests that are carried out where something is found, by a stated form or by the model. */
  sure: number;
  /** Requests that are carried out later where something is found. */
  later: number;
  /** Requests that are asked back, or called unmet. */
  doubted: number;
}

const NOTHING: Tally = { messages: 0, sure: 0, later: 0, doubted: 0 };

const tallies = new Map<string, Tally>();
const chats = readChats(options.data, options.ids as Half).filter(
  ({ set }) => options.set === undefined || set === options.set,
);

const toRemember = new Set<NumberedChat>(options.remember === "all" ? chats : []);
const secret = passingSecret();
const forgetRequests = englishForgetRequests(rulesQuestionReader(), { embedder: staticEmbedder() });

/** Whether a request of a message would be asked back or called unmet, after what was said before it. */
async function isDoubted(
  { messages }: NumberedChat,
  message: Message,
  found: EraseProposal,
  all: readonly EraseProposal[],
): Promise<boolean> {
  const before = messages.slice(0, messages.indexOf(message) + 1);
  const state = {
    messages: new Map(before.map((one) => [one.id, one])),
    memories: new Map(),
    tombstones: new Map(),
  };
  const { action } = await assessRequest(
    { forgetRequests, secret },
    state as never as UserState,
    message,
    found,
    all,
  );
  return action !== "ignore";
}

for (const chat of chats) {
  const tally = tallies.get(chat.set) ?? { ...NOTHING };
  tallies.set(chat.set, tally);
  for (const [place, { message, earlier }] of userTurns(chat).entries()) {
    if (place % Number(options.every) !== 0) continue;
    tally.messages += 1;
    const all = findErasures(message, { messages: [message], earlier, known: [] });
    for (const found of all) {
      const way = found.due ? "later" : (found.confidence ?? 1) >= SURE ? "sure" : "doubted";
      if (way === "doubted" && !(await isDoubted(chat, message, found, all))) continue;
      tally[way] += 1;
      if (way !== "doubted" && options.remember === "sure") toRemember.add(chat);
      if (chat.number % 2 === 1) show(chat, message.content, found);
    }
  }
}

function show({ set, number }: NumberedChat, content: string, proposal: EraseProposal): void {
  const { message, start, end, propose: _propose, confidence, ...meant } = proposal;
  const certainty = confidence === undefined ? "stated" : confidence.toFixed(2);
  console.log(
    `${set} ${number}/${message} ${certainty} ${content.slice(start, end)} ${JSON.stringify(meant)}`,
  );
}

const total = { ...NOTHING };
for (const [set, tally] of tallies) {
  console.log(`${set}: ${toLine(tally)}`);
  for (const name of Object.keys(total) as (keyof Tally)[]) total[name] += tally[name];
}
const perThousand = (1000 * total.doubted) / total.messages;
console.log(`${options.ids}: ${toLine(total)} (${perThousand.toFixed(2)} per 1,000)`);
if (perThousand > Number(options["most-doubted"] ?? Infinity)) process.exitCode = 1;
let erasedInAll = 0;
for (const chat of toRemember) erasedInAll += await remember(chat);
if (erasedInAll > Number(options["most-erased"] ?? Infinity)) process.exitCode = 1;

function toLine({ messages, sure, later, doubted }: Tally): string {
  return `${messages} messages, ${sure} sure, ${later} sure for later, ${doubted} doubted`;
}

/** Writes a chat to a memory and prints what became of what was taken for requests. Gives how many erasures there were. */
async function remember({ set, number, messages }: NumberedChat): Promise<number> {
  const memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "u" });
  const receipt = await scope.remember(
    messages.map(({ id, session = "", at, role, name = "", content }) => ({
      id,
      session,
      at,
      role,
      content,
      ...(name === "" ? {} : { name }),
    })),
  );
  const erasures = await scope.erasures();
  const erased = erasures.reduce((sum, one) => sum + one.erased.messages, 0);
  const waiting = (receipt.waiting ?? []).filter(({ action }) => action === "erase").length;
  const unmet = receipt.memories.filter(({ why }) => why === NOTHING_TO_ERASE.why).length;
  console.log(
    `${set} ${number}: ${messages.length} messages remembered; ${erased} changed by ${erasures.length} erasures, ${waiting} asked back, ${unmet} unmet`,
  );
  await memory.close();
  return erasures.length;
}
