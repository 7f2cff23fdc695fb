import type { Memory } from "../../domain/memory.ts";
import type { Reason, WhyNot } from "../../domain/recall-explanation.ts";
import type { RecallBounds, RecallReceipt } from "../../domain/recall-receipt.ts";
import { formatDateInWords } from "../../domain/say-date.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { Ports } from "../ports.ts";

/** The fixed words with which `recall` says why it left something out, and the reason that each stands for. */
const REASONS: { readonly [why: string]: Reason } = {
  "only passages were asked for": "other_type",
  "only memories were asked for": "other_type",
  "another kind was asked for": "other_kind",
  quarantined: "quarantined",
  expired: "expired",
  undone: "undone",
  "not yet true then": "not_yet_true",
  "not yet known then": "not_yet_known",
  "not yet said then": "not_yet_true",
  "another agent's": "other_agent",
  "another session": "other_session",
  "the filter does not let it through": "filtered",
  "it has too little to do with the query": "below_floor",
  "it shares nothing with the query": "below_floor",
  "beyond the limit": "beyond_limit",
  "below minScore": "below_score",
};

/** Why a recall gave or did not give one memory, passage or message. `not_found` where this user never had it. */
export async function explainAbsence(
  ports: Pick<Ports, "record" | "states">,
  scope: Scope,
  receipt: RecallReceipt,
  id: string,
): Promise<WhyNot> {
  const state = await ports.states.of(scope);
  const versions = await ports.record.versions(scope, id);
  const message = state.messages.get(id.includes("#") ? id.slice(0, id.lastIndexOf("#")) : id);
  const isGone = versions.length === 0 && (!message || message.content === "");
  if (isGone) {
    if (await wasErased(ports, scope, id)) return toWhyNot(id, "erased", "It has been erased.");
    throw new MemoryError("not_found", "there is no memory, passage or message with this id.");
  }
  const then = versions.findLast((one) => one.revision <= receipt.revision && one.storedAt <= receipt.at);
  const isOver = then && receipt.kind === "answer" && !receipt.used?.includes(id);
  return (
    (isOver ? findEnded(then, receipt) : undefined) ??
    findGiven(receipt, id) ??
    (versions.length > 0 && !then
      ? toWhyNot(
          id,
          "not_yet_known",
          `It was stored later, on ${formatDateInWords(versions[0]?.storedAt.slice(0, 10) ?? "")}.`,
        )
      : undefined) ??
    (then && findBound(receipt, then)) ??
    (then && findEnded(then, receipt)) ??
    findDropped(receipt, id) ??
    toWhyNot(id, "below_floor", "It had too little to do with what was asked, beside what was given.")
  );
}

async function wasErased(ports: Pick<Ports, "record">, scope: Scope, id: string): Promise<boolean> {
  const message = id.includes("#") ? id.slice(0, id.lastIndexOf("#")) : id;
  let before: number | undefined;
  for (;;) {
    const entries = await ports.record.log(scope, {
      limit: 200,
      ...(before === undefined ? {} : { before }),
    });
    if (entries.some(({ erased }) => erased.includes(id) || erased.includes(message))) return true;
    const last = entries.at(-1);
    if (!last || entries.length < 200) return false;
    before = last.revision;
  }
}

function toWhyNot(id: string, reason: Reason, text: string): WhyNot {
  return { id, reason, text };
}

function findGiven({ items, used, kind }: RecallReceipt, id: string): WhyNot | undefined {
  const place = items.findIndex((item) => item.id === id || item.id.startsWith(`${id}#`));
  if (used?.includes(id)) return toWhyNot(id, "used", "The answer rests on it.");
  if (place < 0) return undefined;
  const rest = kind === "answer" ? ", but the answer rests on others" : "";
  return toWhyNot(id, "given", `It was given, in place ${place + 1}${rest}.`);
}

/** What the recall was bounded by, held against the memory as it was then. */
function findBound({ bounds, at }: RecallReceipt, memory: Memory): WhyNot | undefined {
  const { id } = memory;
  const { types, kinds, session, agent } = bounds;
  if (types && !types.includes("memory")) return toWhyNot(id, "other_type", "Only passages were asked for.");
  if (kinds && !kinds.includes(memory.kind)) {
    return toWhyNot(id, "other_kind", `Only ${kinds.join(", ")} was asked for.`);
  }
  if (memory.quarantined) return toWhyNot(id, "quarantined", "It is held back: it is never given.");
  if (agent !== undefined && memory.agent !== agent) {
    return toWhyNot(id, "other_agent", "It belongs to another agent.");
  }
  if (session !== undefined && memory.session !== session) {
    return toWhyNot(id, "other_session", "It was said in another session than the one that was asked about.");
  }
  return findTimeBound(bounds, memory, at);
}

function findTimeBound({ asOf, knownAt }: RecallBounds, memory: Memory, at: string): WhyNot | undefined {
  const { id, expiresAt, storedAt, validFrom } = memory;
  if (expiresAt !== undefined && expiresAt <= at) return toWhyNot(id, "expired", "It had expired.");
  if (knownAt !== undefined && storedAt > knownAt) {
    return toWhyNot(id, "not_yet_known", "It was not known at the time that was asked about.");
  }
  if (asOf !== undefined && (validFrom ?? memory.at) > asOf) {
    return toWhyNot(id, "not_yet_true", "It was not true yet at the time that was asked about.");
  }
  return undefined;
}

const REASON_TEXTS: { readonly [reason in Reason]?: string } = {
  filtered: "The filter did not let it through.",
  beyond_limit: "It was found, and lay beyond the number that was asked for.",
  below_score: "It was found, with a score below the least that was asked for.",
  below_floor: "It had too little to do with what was asked.",
  other_session: "It was said in another session than the one that was asked about.",
};

function findDropped({ dropped: all }: RecallReceipt, id: string): WhyNot | undefined {
  const one = all.find((left) => left.id === id || left.id.startsWith(`${id}#`));
  const reason = one && REASONS[one.why];
  return reason && toWhyNot(id, reason, REASON_TEXTS[reason] ?? `It was left out: ${one.why}.`);
}

/** What no longer held then, and what never did: an answer leaves it out, and a recall sets it back. */
function findEnded(memory: Memory, { at }: RecallReceipt): WhyNot | undefined {
  const { id, status, validTo, why } = memory;
  if (status === "retracted") return toWhyNot(id, "retracted", `It was taken back${why ? `: ${why}` : ""}.`);
  const isOver = status === "superseded" || (validTo !== undefined && validTo <= at);
  if (!isOver) return undefined;
  const since =
    validTo === undefined ? "" : ` since ${formatDateInWords(validTo.slice(0, 10), { weekday: false })}`;
  return toWhyNot(id, "superseded", `It no longer held${since}${why ? `: ${why}` : ""}.`);
}
