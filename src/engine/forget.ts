import type { Cut } from "../domain/cut.ts";
import { checkText } from "../domain/limits.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ErasurePlan, ErasureReceipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { words } from "../domain/words.ts";
import type { EraseProposal } from "../ports/extractor.ts";
import { change } from "./change.ts";
import { placesOf } from "./forget/cuts.ts";
import { type Erasing, erasing } from "./forget/erasure.ts";
import { receiptHash, sign } from "./forget/seal.ts";
import { type Selection, select } from "./forget/select.ts";
import type { Ports } from "./ports.ts";
import type { Forget } from "./surface.ts";
import { unitsOf } from "./units.ts";
import type { UserState } from "./user-state.ts";

/**
 * Erases what is meant: memories with all their versions, the words in every message, passages, vectors and text
 * index; then bars the way back, reads every place again, and seals a receipt. Other words stay.
 */
export async function forget(
  ports: Ports,
  scope: Scope,
  what: Forget,
  options: { signal?: AbortSignal } = {},
): Promise<ErasureReceipt> {
  options.signal?.throwIfAborted();
  const meant = typeof what === "string" ? await meaningOf(ports, checkText(what, "what to forget")) : what;
  return erase(ports, scope, (state) => select(ports, state, meant));
}

/** What `forget` would take. Nothing is gone yet. */
export async function planForget(ports: Ports, scope: Scope, what: Forget): Promise<ErasurePlan> {
  const meant = typeof what === "string" ? await meaningOf(ports, checkText(what, "what to forget")) : what;
  const state = await ports.states.of(scope);
  const { memories, cuts } = select(ports, state, meant);
  return {
    dryRun: true,
    memories: [...memories].map(({ id, text }) => ({ id, text })),
    messages: [...cuts].flatMap(([id, spans]) => {
      const message = state.messages.get(id);
      if (!message) return [];
      return [
        { id, at: message.at, words: spans.map(({ start, end }) => message.content.slice(start, end)) },
      ];
    }),
  };
}

/** Carries out the requests of a message that is stored; the request itself goes with what it asked to forget. */
export async function forgetAsked(
  ports: Ports,
  scope: Scope,
  asked: { message: Message; proposals: readonly EraseProposal[] },
  signal?: AbortSignal,
): Promise<{ lines: ReceiptLine[]; receipts: ErasureReceipt[]; revision: number }> {
  signal?.throwIfAborted();
  const { message, proposals } = asked;
  const receipt = await erase(
    ports,
    scope,
    (state) => selectAsked(ports, state, message, proposals),
    message.id,
  );
  const lines = receipt.ids.map((id) => ({
    id,
    action: "erased" as const,
    text: "",
    why: "the user asked for it",
  }));
  return { lines, receipts: [receipt], revision: receipt.revision };
}

function selectAsked(
  ports: Pick<Ports, "questions">,
  state: UserState,
  message: Message,
  proposals: readonly EraseProposal[],
): Selection {
  const memories = new Set<Memory>();
  const cuts = new Map<string, Cut[]>();
  for (const proposal of proposals) {
    const isWhole = proposal.about === undefined && !proposal.everything;
    const own = isWhole
      ? { start: 0, end: message.content.length }
      : { start: proposal.start, end: proposal.end };
    cuts.set(message.id, [...(cuts.get(message.id) ?? []), { ...own, put: "" }]);
    const meant: Forget | undefined = proposal.everything
      ? { everything: true }
      : (proposal.about ?? undefined);
    const found = meant === undefined ? selectOf(state, message.id) : select(ports, state, meant);
    for (const memory of found.memories) memories.add(memory);
    for (const [id, more] of found.cuts) cuts.set(id, [...(cuts.get(id) ?? []), ...more]);
  }
  return { memories, cuts };
}

/** The memories that rest on one message alone. */
function selectOf(state: UserState, message: string): Selection {
  const memories = [...state.memories.values()].filter(
    ({ sources }) => sources.length > 0 && sources.every((source) => source.message === message),
  );
  return { memories: new Set(memories), cuts: new Map() };
}

/** A sentence such as "Forget that I ever mentioned Magnet" says what is meant; anything else is what is meant. */
async function meaningOf(ports: Pick<Ports, "extractor">, what: string): Promise<Forget> {
  if (!ports.extractor.local) return what;
  const message: Message = {
    id: "request",
    turn: 0,
    role: "user",
    content: what,
    origin: "user_message",
    at: new Date(0).toISOString(),
    storedAt: new Date(0).toISOString(),
    digest: "pending",
  };
  const proposals = await ports.extractor.propose({ messages: [message], earlier: [], known: [] });
  const request = proposals.find((proposal) => proposal.propose === "erase");
  if (request?.propose !== "erase") return what;
  return request.everything ? { everything: true } : (request.about ?? what);
}

async function erase(
  ports: Ports,
  scope: Scope,
  choose: (state: UserState) => Selection,
  asking?: string,
): Promise<ErasureReceipt> {
  const { result } = await change<{ receipt: ErasureReceipt; texts?: readonly string[] }>(
    ports,
    scope,
    async (state, at) => {
      const selection = choose(state);
      if (selection.memories.size === 0 && selection.cuts.size === 0) {
        return { result: { receipt: nothingErased(ports, scope, state.revision, at) } };
      }
      const plan = erasing(ports, state, selection, await ports.record.versions(scope));
      const units = await unitsOf(
        ports,
        plan.left.filter(({ content, undone }) => content !== "" && !undone),
        [],
      );
      const previous = (await ports.record.erasures(scope)).at(-1)?.hash ?? "";
      const receipt = unsealed(ports, state, at, plan, previous);
      return {
        draft: {
          cause: "forget",
          tombstones: plan.tombstones,
          dropUnits: plan.dropUnits,
          units,
          ...(asking === undefined ? {} : { digests: [{ id: asking, digest: "done" as const }] }),
          erase: { messages: plan.messages, memories: plan.memories, rewrites: plan.rewrites, receipt },
        },
        result: { receipt, texts: plan.texts },
      };
    },
  );
  ports.embedder.letGo?.();
  return result.texts ? verify(ports, scope, result.receipt, result.texts) : result.receipt;
}

function unsealed(
  ports: Ports,
  state: UserState,
  at: string,
  plan: Erasing,
  previous: string,
): ErasureReceipt {
  const bare = {
    id: ports.ids(),
    at,
    project: state.scope.project,
    user: state.scope.user,
    revision: state.revision + 1,
    erased: {
      memories: plan.memories.length,
      versions: plan.versions,
      messages: plan.messages.length,
      emptied: plan.emptied,
      passages: plan.passages,
      vectors: plan.dropUnits.length,
      tombstones: plan.tombstones.length,
    },
    ids: plan.memories,
    previous,
  };
  return sign(ports.secret, { ...bare, hash: receiptHash(bare), verified: [], complete: false });
}

/** The receipt of an erasure that found nothing: true, and not kept. */
function nothingErased(ports: Ports, scope: Scope, revision: number, at: string): ErasureReceipt {
  const erased = {
    memories: 0,
    versions: 0,
    messages: 0,
    emptied: 0,
    passages: 0,
    vectors: 0,
    tombstones: 0,
  };
  const bare = {
    id: ports.ids(),
    at,
    project: scope.project,
    user: scope.user,
    revision,
    erased,
    ids: [],
    previous: "",
  };
  return sign(ports.secret, { ...bare, hash: receiptHash(bare), verified: [], complete: true });
}

/** Reads every place again and seals the receipt with what was found there. */
async function verify(
  ports: Ports,
  scope: Scope,
  receipt: ErasureReceipt,
  texts: readonly string[],
): Promise<ErasureReceipt> {
  ports.states.drop(scope);
  const state = await ports.states.of(scope);
  const left = [
    ...[...state.messages.values()].map(({ content }) => content),
    ...[...state.memories.values()].map(({ text }) => text),
  ];
  const lower = left.map((text) => text.toLowerCase());
  // A short text can be part of other words that stay ("Magnet", "magnetic"): there, only whole words count.
  const inside = new Set(texts.filter((text) => lower.some((one) => one.includes(text.toLowerCase()))));
  const found = [...inside].filter((text) =>
    left.some((one) => placesOf(one, words(text)).length > 0),
  ).length;
  const searched = texts.filter((text) => !inside.has(text));
  const places = await ports.record.scrub(scope, searched);
  const verified = [{ place: "recall", found }, ...places];
  const sealed = sign(ports.secret, {
    ...receipt,
    verified,
    complete: verified.every((place) => place.found === 0),
  });
  await ports.record.seal(scope, sealed);
  return sealed;
}

/**
 * Ends what a crash left between an erasure and its check: empties the log, where the words may still stand. The words
 * themselves are not known any more, so the receipt stays incomplete and says why. Gives how many it found.
 */
export async function endInterrupted(ports: Pick<Ports, "record" | "secret">): Promise<number> {
  const left = (await ports.record.erasures()).filter(
    ({ complete, verified }) => !complete && verified.length === 0,
  );
  for (const receipt of left) {
    const scope = { project: receipt.project, user: receipt.user };
    await ports.record.scrub(scope, []);
    const verified = [{ place: "log, emptied at the next start", found: 0 }];
    await ports.record.seal(scope, sign(ports.secret, { ...receipt, verified }));
  }
  return left.length;
}
