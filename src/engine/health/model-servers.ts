import type { CallOutcome } from "../../domain/model-call.ts";
import type { CallHooks } from "../../ports/calls.ts";
import type { CircuitState } from "../../ports/circuit.ts";

/** A server of models that the memory asks, as its requests found it. */
export interface ModelServerState {
  readonly kind: "embedder" | "model";
  readonly circuit: CircuitState;
  /** Whether the last request that was to have an answer had none that could be used. */
  readonly hasFailed: boolean;
}

/** What is known of models' servers without asking them: a request would be paid for. */
export interface ModelServers {
  states(): readonly ModelServerState[];
  /** From now on it is one of them. */
  add(kind: ModelServerState["kind"]): void;
  /** Hooks that tell of its requests too, beside what they did before. */
  observe(kind: ModelServerState["kind"], hooks: CallHooks): CallHooks;
}

/** What the server answered or did not; the others say nothing of it. */
const FAILURE_OUTCOMES: ReadonlySet<CallOutcome> = new Set<CallOutcome>([
  "rate_limited",
  "timeout",
  "unreachable",
  "rejected",
  "failed",
]);
const RESPONSE_OUTCOMES: ReadonlySet<CallOutcome> = new Set<CallOutcome>(["ok", "invalid", "refused", "cut"]);

export function createModelServers(): ModelServers {
  const known = new Map<ModelServerState["kind"], { circuit: CircuitState; hasFailed: boolean }>();
  const shown = new Set<ModelServerState["kind"]>();
  const of = (kind: ModelServerState["kind"]): { circuit: CircuitState; hasFailed: boolean } => {
    const found = known.get(kind) ?? { circuit: "closed", hasFailed: false };
    known.set(kind, found);
    return found;
  };
  return {
    states: () => [...shown].map((kind) => ({ kind, ...of(kind) })),
    add: (kind) => void shown.add(kind),
    observe: (kind, hooks) => ({
      ...hooks,
      onCall(report, whose) {
        if (FAILURE_OUTCOMES.has(report.outcome)) of(kind).hasFailed = true;
        else if (RESPONSE_OUTCOMES.has(report.outcome)) of(kind).hasFailed = false;
        hooks.onCall?.(report, whose);
      },
      onCircuit(state, host) {
        of(kind).circuit = state;
        hooks.onCircuit?.(state, host);
      },
    }),
  };
}
