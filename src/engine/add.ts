import { claimKey } from "../domain/claim.ts";
import { checkMetadata, checkShare, checkText, LIMITS } from "../domain/limits.ts";
import { type Claim, KINDS, type Kind, type Memory } from "../domain/memory.ts";
import type { Receipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { isoTime } from "../domain/time.ts";
import { invalid, MemoryError } from "../errors.ts";
import { change, type Draft } from "./change.ts";
import { type MemoryDraft, memoryDraft } from "./memory-draft.ts";
import type { Ports } from "./ports.ts";
import type { MemoryChanges, NewMemory } from "./surface.ts";
import { claimTombstones } from "./tombstones.ts";
import { unitsOf } from "./units.ts";
import type { UserState } from "./user-state.ts";

/** Adds a memory as such. The same text or claim, held already, gains evidence instead. */
export async function add(ports: Ports, scope: Scope, memory: NewMemory): Promise<Receipt> {
  const put = putting(ports, scope, memory);
  return write(ports, scope, (state, at) => {
    const draft = memoryDraft(state, at);
    const { line, lifted } = put(state, at, draft);
    return { made: draft.made, lines: [line], draft: { liftTombstones: lifted } };
  });
}

/** What putting a memory in by hand did: its line, and the hashes of tombstones that it lifts. */
export interface Put {
  readonly line: ReceiptLine;
  readonly lifted: readonly string[];
}

/** Checks a new memory, and gives what puts it into a draft. `invalid_input` for fields that are none. */
export function putting(
  ports: Pick<Ports, "ids" | "secret" | "clock">,
  scope: Scope,
  memory: NewMemory,
): (state: UserState, at: string, draft: MemoryDraft) => Put {
  const fields = checkFields(memory);
  const text = checkText(memory.text, "text");
  const said = memory.at === undefined ? undefined : isoTime(memory.at, "at");
  return (state, at, draft) => {
    notOver(fields, ports.clock().toISOString());
    const same = [...state.current.values()].find(
      (held) => !held.quarantined && isSame(held, text, fields.claim),
    );
    if (same) {
      draft.put({ ...same, ...fields, text, evidence: same.evidence + 1, at: said ?? at, action: "merged" });
      return { line: { id: same.id, action: "merged", text }, lifted: [] };
    }
    const id = ports.ids();
    draft.put({
      id,
      text,
      kind: "fact",
      status: "current",
      confidence: 1,
      importance: 0.5,
      evidence: 1,
      origin: "api",
      at: said ?? at,
      validFrom: said ?? at,
      sources: [],
      action: "added",
      ...(scope.agent === undefined ? {} : { agent: scope.agent }),
      ...(scope.session === undefined ? {} : { session: scope.session }),
      ...fields,
    });
    // Putting it in by hand is the user's own word: it lifts what barred it.
    const lifted = fields.claim ? Object.values(claimTombstones(ports.secret, scope, fields.claim)) : [];
    return {
      line: { id, action: "added", text },
      lifted: lifted.filter((hash) => state.tombstones.has(hash)),
    };
  };
}

/** Changes fields of a memory by hand; what it was stays in its history. `not_found` for an unknown id. */
export async function update(
  ports: Ports,
  scope: Scope,
  id: string,
  changes: MemoryChanges,
): Promise<Receipt> {
  const fields = checkFields(changes);
  const validTo = changes.validTo === undefined ? {} : { validTo: isoTime(changes.validTo, "validTo") };
  const text = changes.text === undefined ? {} : { text: checkText(changes.text, "text") };
  const isReleased = released(changes.quarantined);
  if (!isReleased && Object.keys({ ...fields, ...validTo, ...text }).length === 0)
    throw invalid("update: name at least one field to change.");
  return write(ports, scope, (state, at) => {
    const held = heldMemory(state, id);
    notOver(fields, ports.clock().toISOString());
    const draft = memoryDraft(state, at);
    // The words are no longer those of the source once a hand has changed them: it stays as where they came from.
    const { quarantined, ...free } = held;
    const why = isReleased && quarantined ? "let in by hand" : "changed by hand";
    const made = draft.put({
      ...(isReleased ? free : held),
      ...fields,
      ...validTo,
      ...text,
      action: "updated",
      why,
    });
    return { made: draft.made, lines: [{ id, action: "merged", text: made.text, why }] };
  });
}

/** What has expired when it is written could be read by nobody: that is a slip. */
function notOver({ expiresAt }: Pick<Partial<Memory>, "expiresAt">, at: string): void {
  if (expiresAt !== undefined && expiresAt <= at)
    throw invalid("expiresAt has passed: give a time to come, or take the memory away.");
}

/** What is set aside is let in by saying so; nothing is set aside by hand. */
function released(quarantined: unknown): boolean {
  if (quarantined === undefined) return false;
  if (quarantined === false) return true;
  throw invalid("quarantined can only be set to false: that lets a memory in which was set aside.");
}

/** Takes a memory away by hand: no read but history gives it any more, and `undo` brings it back. Not an erasure. */
export async function remove(ports: Ports, scope: Scope, id: string): Promise<Receipt> {
  return write(ports, scope, (state, at) => {
    const held = heldMemory(state, id);
    if (held.status === "retracted") return { made: [], lines: [] };
    const draft = memoryDraft(state, at);
    draft.put({ ...held, status: "retracted", action: "retracted", why: "removed by hand" });
    return {
      made: draft.made,
      lines: [{ id, action: "retracted", text: held.text, why: "removed by hand" }],
    };
  });
}

interface Written {
  readonly made: readonly Memory[];
  readonly lines: Receipt["memories"];
  readonly draft?: Partial<Draft>;
}

async function write(
  ports: Ports,
  scope: Scope,
  think: (state: UserState, at: string) => Written,
): Promise<Receipt> {
  const { result, revision } = await change(ports, scope, async (state, at) => {
    const { made, lines, draft } = think(state, at);
    const result = { lines, pending: state.pending };
    if (made.length === 0) return { result };
    const isAdded = made[0]?.version === 1;
    return {
      draft: {
        cause: isAdded ? "add" : "update",
        memories: made,
        units: await unitsOf(ports, [], made.slice(-1)),
        ...draft,
      },
      result,
    };
  });
  return { revision, messages: [], memories: result.lines, pending: result.pending };
}

export function heldMemory(state: UserState, id: string): Memory {
  const held = state.memories.get(id);
  if (!held)
    throw new MemoryError(
      "not_found",
      "there is no memory with this id. Listing the memories shows those that are there.",
    );
  return held;
}

function isSame(held: Memory, text: string, claim: Claim | undefined): boolean {
  if (claim && held.claim) return claimKey(claim) === claimKey(held.claim);
  return held.text === text;
}

function checkFields(fields: Omit<Partial<NewMemory>, "text" | "at">): Partial<Memory> {
  return {
    ...(fields.kind === undefined ? {} : { kind: checkKind(fields.kind) }),
    ...(fields.claim === undefined ? {} : { claim: checkClaim(fields.claim) }),
    ...(fields.confidence === undefined ? {} : { confidence: checkShare(fields.confidence, "confidence") }),
    ...(fields.importance === undefined ? {} : { importance: checkShare(fields.importance, "importance") }),
    ...(fields.validFrom === undefined ? {} : { validFrom: isoTime(fields.validFrom, "validFrom") }),
    ...(fields.expiresAt === undefined ? {} : { expiresAt: isoTime(fields.expiresAt, "expiresAt") }),
    ...(fields.metadata === undefined ? {} : { metadata: checkMetadata(fields.metadata, "metadata") }),
  };
}

function checkKind(kind: unknown): Kind {
  if ((KINDS as readonly unknown[]).includes(kind)) return kind as Kind;
  throw invalid(`kind must be one of ${KINDS.join(", ")}.`);
}

function checkClaim(claim: Claim): Claim {
  if (typeof claim !== "object" || claim === null)
    throw invalid("claim must be an object with subject, relation and value.");
  return {
    subject: checkText(claim.subject, "claim.subject", LIMITS.nameBytes),
    relation: checkText(claim.relation, "claim.relation", LIMITS.nameBytes),
    value: checkText(claim.value, "claim.value", LIMITS.textBytes),
    ...(claim.qualifier === undefined
      ? {}
      : { qualifier: checkText(claim.qualifier, "claim.qualifier", LIMITS.nameBytes) }),
  };
}
