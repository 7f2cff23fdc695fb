import type { Receipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Understood } from "../api/writing-types.ts";
import { commitChange } from "../change-set.ts";
import { eraseRequested } from "../erase/forget.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import { type ExtractionResult, extractMessages } from "./extract.ts";
import { extractPendingByModel } from "./model-extraction.ts";
import { selectReworded } from "./remember.ts";

interface ExtractionProgress {
  readonly read: number;
  readonly more: boolean;
  readonly erase?: NonNullable<ExtractionResult["erase"]>;
}

/** Pending messages read per commit. */
const BATCH_SIZE = 100;

/**
 * Reads the messages that wait for an extractor, oldest first, until none is left. These were stored with
 * `extract: "later"`, left behind by a crash, or wait for a model. Gives the number read. Safe to repeat and
 * to interrupt. Throws what stops it; unread messages stay pending.
 */
export async function extractPending(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<number> {
  const readByRules = await extractPendingByRules(ports, scope, signal);
  if (!ports.modelExtractor) return readByRules;
  const understood = await extractPendingByModel(ports, scope, signal);
  if (understood.problem) throw understood.problem;
  return readByRules + understood.read;
}

/** Reads messages that no extractor has read yet, with the rules. */
async function extractPendingByRules(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<number> {
  for (let read = 0; ; ) {
    signal?.throwIfAborted();
    const { result } = await commitChange<ExtractionProgress>(ports, scope, async (state, at) => {
      const waiting = [...state.messages.values()].filter(
        // Messages that the rules have read wait for a model, of this program or another on the same store.
        // Erased messages wait for nothing.
        ({ digest, undone, heard, content }) => digest === "pending" && !undone && (!heard || content === ""),
      );
      const messages = waiting.slice(0, BATCH_SIZE);
      if (messages.length === 0) return { result: { read: 0, more: false } };
      const digested = await extractMessages(ports, {
        state,
        at,
        messages,
        mayErase: true,
        ...(signal ? { signal } : {}),
      });
      const { erase } = digested;
      const settled = digested.messages.filter(({ digest, heard }) => digest === "done" || heard);
      return {
        draft: {
          cause: "digest",
          extractor: "local",
          digests: settled.map(({ id, digest, heard }) => ({ id, digest, ...(heard ? { heard } : {}) })),
          memories: digested.memories,
          links: digested.links,
          units: await createSearchUnits(ports, [], selectReworded(state, digested.memories), signal),
          liftTombstones: digested.liftedTombstones,
        },
        result: {
          read: digested.messages.length,
          more: waiting.length > digested.messages.length,
          ...(erase ? { erase } : {}),
        },
      };
    });
    read += result.read;
    if (result.erase) await eraseRequested(ports, scope, result.erase, signal);
    if (!result.more) return read;
  }
}

/** Reads pending messages now, by rules and by the model if there is one, and reports what was learnt. */
export async function understand(
  ports: Ports,
  scope: Scope,
  { signal }: CallOptions = {},
): Promise<Understood> {
  const readByRules = await extractPendingByRules(ports, scope, signal);
  const { read, lines, problem } = await extractPendingByModel(ports, scope, signal);
  const { pending } = await ports.states.of(scope);
  return {
    read: readByRules + read,
    memories: lines,
    pending,
    ...(problem ? { problem: problem.message } : {}),
  };
}

/** Why a model would not read its pending messages now, as far as that is known without asking it. */
export async function findHindrance(
  { modelExtractor, costs }: Pick<Ports, "modelExtractor" | "costs">,
  { project, user }: Scope,
): Promise<Receipt["hindered"]> {
  if (!modelExtractor) return undefined;
  if (modelExtractor.circuit?.state() === "open") return "unavailable";
  const budgets = (await costs?.budgets({ project, user })) ?? [];
  return budgets.some(({ left }) => left <= 0) ? "over_quota" : undefined;
}
