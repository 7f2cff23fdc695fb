import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { sortInSlices } from "../../domain/time-slicing.ts";
import { MemoryError } from "../../errors.ts";
import type { Extractor } from "../../ports/language/extractor.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { FactDifference, ReplayOptions, ReplayReport } from "../api/replay-types.ts";
import type { Ports } from "../ports.ts";
import { type ComparedMemory, compareFacts, listCompared } from "./compare-facts.ts";
import { type ReplayExtractors, repeatInMemory } from "./replay-memory.ts";
import {
  listLogEntries,
  listTellable,
  listUnreadable,
  planSteps,
  planTelling,
  type TellableMessages,
} from "./replay-steps.ts";

/** What a replay needs in addition to the ports. */
export interface ReplayTools {
  /** Opens an empty store in memory. */
  readonly openStore: () => MemoryStore;
  /** Opens the built-in rules. */
  readonly openRules: () => Extractor;
}

/**
 * Repeats the log of a user in an empty store in memory, and compares the memories with the stored ones. Messages are read
 * again, in their order and at their times. What cannot be read again is taken from the log. Writes nothing to the user's
 * store. Throws `conflict` if the memory changes meanwhile, and with `askModel` what the model's server throws.
 */
export async function replay(
  ports: Ports,
  scope: Scope,
  tools: ReplayTools,
  { askModel = false, ...options }: ReplayOptions = {},
): Promise<ReplayReport> {
  const state = await ports.states.of(scope);
  const { revision } = state;
  const tellable = listTellable(state);
  const now = ports.clock().toISOString();
  const log = await listLogEntries(ports, scope);
  const versions = await ports.store.versions(scope);
  const unreadable = listUnreadable(log, state);
  const { extractor, modelExtractor } = ports;
  const asksModel = askModel && modelExtractor !== undefined;
  const input = {
    store: tools.openStore(),
    steps: planSteps({ tellable, unreadable, log, asksModel }),
    extractors: { extractor, ...(asksModel ? { modelExtractor } : {}) },
    now,
    recorded: { versions, unreadable },
  };
  const right = await repeatInMemory(ports, scope, input, options);
  const left = await listCompared((await ports.states.of(scope)).memories.values(), now, NOTHING_TAKEN);
  await refuseChanged(ports, scope, revision);
  return toReport({ left: "store", right: "replay" }, tellable, left, right);
}

/**
 * Tells the stored messages of a user to two empty stores in memory, one with the built-in rules and one with the configured
 * model, and compares the memories. Throws `unsupported` if no model extracts memories, and otherwise as `replay` does.
 */
export async function compareExtractors(
  ports: Ports,
  scope: Scope,
  tools: ReplayTools,
  { onProgress, signal }: ReplayOptions = {},
): Promise<ReplayReport> {
  const { modelExtractor } = ports;
  if (!modelExtractor) throw new MemoryError("unsupported", NO_MODEL);
  const state = await ports.states.of(scope);
  const { revision } = state;
  const tellable = listTellable(state);
  const now = ports.clock().toISOString();
  const told = [...tellable.messages.values()].filter(({ undone }) => !undone);
  const all = 2 * told.length;
  const tell = (extractors: ReplayExtractors, before: number) =>
    repeatInMemory(
      ports,
      scope,
      { store: tools.openStore(), steps: planTelling(told), extractors, now, recorded: NOTHING_RECORDED },
      { ...(signal ? { signal } : {}), onProgress: (done) => onProgress?.(before + done, all) },
    );
  const left = await tell({ extractor: tools.openRules() }, 0);
  const right = await tell({ extractor: NO_RULES, modelExtractor }, told.length);
  await refuseChanged(ports, scope, revision);
  return toReport({ left: "rules", right: "model" }, tellable, left, right);
}

const NO_MODEL =
  "no model extracts memories here. Set OPENAI_API_KEY or OPENAI_BASE_URL, and leave KEEPSAKE_EXTRACTOR unset or set it to " +
  "model or both; in the library, set `model`.";

/** Proposes nothing: the model reads every message. */
const NO_RULES: Extractor = { name: "none", local: true, propose: async () => [] };

const NOTHING_TAKEN: ReadonlySet<string> = new Set();
const NOTHING_RECORDED = { versions: [], unreadable: NOTHING_TAKEN };

async function toReport(
  sides: ReplayReport["sides"],
  { messages: tellable, unread }: TellableMessages,
  left: readonly ComparedMemory[],
  right: readonly ComparedMemory[],
): Promise<ReplayReport> {
  const { same, notFromMessages, differences, digests } = await compareFacts(left, right);
  const messages: readonly Message[] = [...tellable.values()].filter(({ undone }) => !undone);
  const turns = new Map(messages.map(({ id, turn }) => [id, turn]));
  const turnOf = ({ left: one, right: other }: FactDifference): number =>
    turns.get((one ?? other)?.message ?? "") ?? Number.POSITIVE_INFINITY;
  const sorted = await sortInSlices(differences, (one, other) => turnOf(one) - turnOf(other) || 0);
  const onlyLeft = differences.filter(({ right }) => !right).length;
  const onlyRight = differences.filter(({ left }) => !left).length;
  return {
    sides,
    isEqual: differences.length === 0,
    counts: {
      messages: messages.length,
      unread,
      same,
      different: differences.length - onlyLeft - onlyRight,
      onlyLeft,
      onlyRight,
      notFromMessages,
    },
    digests,
    differences: sorted,
  };
}

async function refuseChanged({ store }: Pick<Ports, "store">, scope: Scope, revision: number): Promise<void> {
  if ((await store.revision(scope)) === revision) return;
  throw new MemoryError("conflict", "the memory changed during the replay. Run it again.");
}
