import type { SearchUnit } from "../../domain/change-set.ts";
import { formatPassage, splitPassages } from "../../domain/passages.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/record.ts";
import { runInUserQueue } from "../change.ts";
import { forEachInSlices } from "../in-slices.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits, termsOfText } from "../units.ts";

type RebuildPorts = Pick<Ports, "record" | "embedder" | "clock">;

/** What a unit is to be, from what it is made of. */
interface WantedUnit extends Pick<SearchUnit, "type" | "owner" | "start" | "end"> {
  readonly text: string;
}

/**
 * Makes a user's search units anew where they are missing, differ from what they are made of, or are named in `damaged`; drops those
 * that belong to nothing. Nothing is made from a message or a memory that was changed. Gives how many units were put right.
 */
export async function rebuildUnits(
  ports: RebuildPorts,
  scope: Scope,
  damaged: ReadonlySet<string>,
): Promise<number> {
  return runInUserQueue(ports.record, scope, async () => {
    const delta = await ports.record.since(scope, 0);
    const wanted = computeWantedUnits(delta);
    const units = new Map(delta.units.map((unit) => [unit.id, unit]));
    const wrong = new Set<string>();
    await forEachInSlices(wanted, ([id, want]) => {
      const unit = units.get(id);
      if (!unit || damaged.has(id) || !isMadeOf(unit, want)) wrong.add(want.owner);
    });
    const dropUnits = [...units.keys()].filter((id) => !wanted.has(id));
    if (wrong.size === 0 && dropUnits.length === 0) return 0;
    const made = await createSearchUnits(
      ports,
      delta.messages.filter(({ id, undone }) => wrong.has(id) && !undone),
      delta.memories.filter(({ id }) => wrong.has(id)),
    );
    const at = ports.clock().toISOString();
    await ports.record.commit(scope, {
      base: delta.revision,
      at,
      cause: "reindex",
      units: made.filter(({ id }) => wanted.has(id)),
      dropUnits,
    });
    return made.length + dropUnits.length;
  });
}

function computeWantedUnits({ messages, memories, damaged }: Delta): Map<string, WantedUnit> {
  const unsound = new Set([...(damaged?.messages ?? []), ...(damaged?.memories ?? [])]);
  const wanted = new Map<string, WantedUnit>();
  for (const message of messages) {
    if (message.undone || unsound.has(message.id)) continue;
    for (const { id, start, end } of splitPassages(message)) {
      const text = formatPassage(message, { start, end });
      wanted.set(id, { type: "passage", owner: message.id, start, end, text });
    }
  }
  for (const { id, text } of memories) {
    if (!unsound.has(id)) wanted.set(id, { type: "memory", owner: id, start: 0, end: text.length, text });
  }
  return wanted;
}

function isMadeOf(unit: SearchUnit, { type, owner, start, end, text }: WantedUnit): boolean {
  return (
    unit.type === type &&
    unit.owner === owner &&
    unit.start === start &&
    unit.end === end &&
    unit.terms === termsOfText(text)
  );
}
