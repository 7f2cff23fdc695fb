import { type ErasureSelection, mergeSelections, NO_SELECTION } from "../../domain/erasure-selection.ts";
import type { Message } from "../../domain/message.ts";
import type { Unsure } from "../../domain/receipt.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { DescribedSelection, ForgetRequestSource } from "../../ports/language/forget-request-reader.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { addDependents, selectForErasure } from "./selection.ts";
import { isErasedName } from "./tombstone-filter.ts";

/** Requests to forget in a stored message. */
export interface RequestedErasure {
  readonly message: Message;
  readonly proposals: readonly EraseProposal[];
  /** True if the user has confirmed them: what is not sure is erased too. */
  readonly isAgreed?: boolean;
  /** True if the request was carried out in part before, and the user has now confirmed the rest. */
  readonly hasRest?: boolean;
  /** The items of the preview that were confirmed, from 0; -1 is the last. Absent for all. */
  readonly items?: readonly number[];
}

/** Whether a request means the message that contains it: "don't store this". */
export function isOfOwnMessage(proposal: object): boolean {
  const { about, everything, session, topic, from, to, messages } = proposal as EraseProposal;
  return !everything && !session && [about, topic, from, to, messages].every((one) => one === undefined);
}

/** The content that a request means, without what it excepts. Its own words are no source of what is meant. */
export async function selectProposal(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[] = [proposal],
): Promise<DescribedSelection> {
  const found = await selectMeant(ports, state, message, proposal, all);
  if (proposal.except === undefined || isOfOwnMessage(proposal)) return found;
  const source = message.id === "" ? undefined : { message, spans: all };
  const content = withoutRequests(state, message, all);
  return ports.forgetRequests.keepExcepted(content, found, proposal.except, source);
}

async function selectMeant(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[],
): Promise<DescribedSelection> {
  if (isOfOwnMessage(proposal)) {
    const values = ports.forgetRequests.findValues(message.content);
    const before = await ports.forgetRequests.selectBefore(upTo(state, message), { message, spans: all });
    return {
      sure: { ...selectFromMessage(state, message.id), values },
      unsure: await addDependents(state, before),
    };
  }
  const { about, everything, messages } = proposal;
  if (everything) return toSure(await selectForErasure(ports, state, { everything: true }));
  if (messages) {
    const ids = messages.filter((id) => state.messages.has(id));
    return ids.length === 0 ? NOTHING : toCertain(await selectForErasure(ports, state, { ids }));
  }
  if (about === undefined) return toCertain(await selectScope(ports, state, message, proposal));
  const content = withoutRequests(upTo(restrictTo(state, proposal), message), message, all);
  const found = await selectDescribed(ports, state, content, { ...proposal, about }, { message, spans: all });
  const topic =
    proposal.topic === undefined
      ? NO_SELECTION
      : await ports.forgetRequests.selectTopic(content, proposal.topic);
  if (proposal.isProspective && [found.sure, found.unsure, topic].every(isEmpty)) {
    // "Don't store my card. It is 5500 …"
    if (!state.messages.has(message.id)) return NOTHING;
    const own = await selectForErasure(ports, state, { ids: [message.id] });
    return toSure({ ...own, values: ports.forgetRequests.findValues(message.content) });
  }
  return {
    sure: await addDependents(state, mergeSelections([found.sure, topic])),
    unsure: await addDependents(state, found.unsure),
    ...(found.isLikely ? { isLikely: true } : {}),
    ...(found.isCertain ? { isCertain: true } : {}),
  };
}

/** What the words of a request describe, in some of what was said. */
async function selectDescribed(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  content: Pick<UserState, "messages" | "memories">,
  { about, except, isBroad }: EraseProposal & { readonly about: string },
  source: ForgetRequestSource,
): Promise<DescribedSelection> {
  const description = {
    phrase: about,
    ...(except === undefined ? {} : { except }),
    ...(isBroad === undefined ? {} : { isBroad }),
  };
  const asking = source.message.id === "" ? undefined : source;
  const described = await ports.forgetRequests.selectDescribed(content, description, asking);
  // "Forget Magnet" once more: what was left beside the name was not meant the first time, and is not now.
  return isEmpty(described.sure) && isOfErasedName(ports, state, about) ? NOTHING : described;
}

function isOfErasedName(
  { forgetRequests, secret }: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  about: string,
): boolean {
  const name = forgetRequests.findName(about);
  return name !== undefined && isErasedName(secret, state, name);
}

const NOTHING: DescribedSelection = { sure: NO_SELECTION, unsure: NO_SELECTION };

function isEmpty({ memories, cuts }: ErasureSelection): boolean {
  return memories.size + cuts.size === 0;
}

function toSure(sure: ErasureSelection): DescribedSelection {
  return { sure, unsure: NO_SELECTION };
}

/** What is said by its place, as "this conversation" is. */
function toCertain(sure: ErasureSelection): DescribedSelection {
  return { ...toSure(sure), isCertain: true };
}

function selectScope(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  { session, topic, from, to }: EraseProposal,
): Promise<ErasureSelection> {
  if (session)
    return selectForErasure(
      ports,
      state,
      message.session === undefined
        ? { from: findConversationStart(state, message) }
        : { session: message.session },
    );
  if (topic !== undefined) return selectForErasure(ports, state, { topic });
  return selectForErasure(ports, state, {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  } as { from: string });
}

/** What was said up to a request: a yes to it carries out what was shown, whatever was said since. */
function upTo(
  content: Pick<UserState, "messages" | "memories">,
  { id }: Message,
): Pick<UserState, "messages" | "memories"> {
  if (!content.messages.has(id)) return content;
  const messages = new Map<string, Message>();
  for (const [key, one] of content.messages) {
    messages.set(key, one);
    if (key === id) break;
  }
  return messages.size === content.messages.size ? content : { ...content, messages };
}

/** The words of requests are blanked: they are no source of what is meant. */
function withoutRequests(
  content: Pick<UserState, "messages" | "memories">,
  { id }: Message,
  requests: readonly EraseProposal[],
): Pick<UserState, "messages" | "memories"> {
  const message = content.messages.get(id);
  if (!message) return content;
  const blanked = requests.reduce(
    (text, { start, end }) => text.slice(0, start) + " ".repeat(end - start) + text.slice(end),
    message.content,
  );
  return { ...content, messages: new Map(content.messages).set(id, { ...message, content: blanked }) };
}

/** What was said in the period that a request names, and the memories from it. */
function restrictTo(state: UserState, { from, to }: EraseProposal): Pick<UserState, "messages" | "memories"> {
  if (from === undefined && to === undefined) return { messages: state.messages, memories: state.memories };
  const isThen = ({ at }: { at: string }): boolean =>
    (from === undefined || at >= from) && (to === undefined || at < to);
  const messages = new Map([...state.messages].filter(([, message]) => isThen(message)));
  const memories = new Map(
    [...state.memories].filter(([, memory]) =>
      memory.sources.length > 0
        ? memory.sources.some(({ message }) => messages.has(message))
        : isThen(memory),
    ),
  );
  return { messages, memories };
}

/** A silence of an hour ends a conversation without a session. */
const SILENCE_MS = 3_600_000;

/** The start of the conversation that contains a message without a session. */
function findConversationStart({ messages }: Pick<UserState, "messages">, { at }: Message): string {
  const times = [...messages.values()].map((one) => one.at).filter((one) => one <= at);
  times.sort().reverse();
  let first = at;
  for (const time of times) {
    if (Date.parse(first) - Date.parse(time) > SILENCE_MS) break;
    first = time;
  }
  return first;
}

/** The memories that depend on one message alone. */
function selectFromMessage(state: UserState, message: string): ErasureSelection {
  const memories = [...state.memories.values()].filter(
    ({ sources }) => sources.length > 0 && sources.every((source) => source.message === message),
  );
  return { memories: new Set(memories), cuts: new Map() };
}

/** What a request may mean, with its words as they were said; empty for nothing. */
export function toUnsure(
  state: Pick<UserState, "messages">,
  about: string,
  selection: ErasureSelection,
): Unsure[] {
  const preview = toPreview(state, selection);
  return preview.memories.length + preview.quotes.length === 0 ? [] : [{ about, ...preview }];
}

/** The memories and the words of a selection, message by message. */
export function toPreview(
  { messages }: Pick<UserState, "messages">,
  { memories, cuts }: ErasureSelection,
): Pick<Unsure, "memories" | "quotes"> {
  return {
    memories: [...memories].map(({ id, text }) => ({ id, text })),
    quotes: [...cuts].flatMap(([id, spans]) => {
      const message = messages.get(id);
      if (!message) return [];
      return spans
        .map(({ start, end }) => message.content.slice(start, end).replace(/^[\s,;:]+|[\s,;:]+$/g, ""))
        .filter((quote) => quote !== "")
        .map((quote) => ({ message: id, at: message.at, quote }));
    }),
  };
}

/** The items of a preview that were chosen: quotes first, then memories without words of their own. */
export function pickItems(selection: ErasureSelection, items: readonly number[]): ErasureSelection {
  const all = [...selection.cuts].flatMap(([id, cuts]) => cuts.map((cut) => ({ id, cut })));
  const places = new Set(items.map((item) => (item < 0 ? all.length + item : item)));
  const kept = all.filter((_one, i) => places.has(i));
  const cuts = new Map(
    [...Map.groupBy(kept, ({ id }) => id)].map(([id, some]) => [id, some.map(({ cut }) => cut)]),
  );
  const memories = [...selection.memories].filter(({ sources }) =>
    sources.some(({ message, start, end }) =>
      (cuts.get(message) ?? []).some((cut) => cut.start < end && start < cut.end),
    ),
  );
  return { memories: new Set(memories), cuts };
}
