import { type Fenceable, fence } from "../../engine/fence.ts";
import type { Profile, ShownMemory } from "../../engine/surface.ts";

/** A profile as it was when a conversation began. */
export interface Profiled {
  readonly block: string;
  /** What it tells, and the memories that this was told from, with their texts. */
  readonly lines: readonly {
    readonly text: string;
    readonly memories: readonly { readonly id: string; readonly text: string }[];
  }[];
}

/** The profile as a fenced block, a line for each of its lines, and what it was made from. Empty where nothing is known. */
export function profiled(profile: Profile, how: { nonce: string; maxTokens: number }): Profiled {
  const held = memoriesOf(profile);
  const lines = profile.sections.flatMap(({ name, lines: own }) =>
    own.map(({ text, memories }) => {
      const from = memories.flatMap((id) => held.get(id) ?? []);
      return {
        text,
        at: from
          .map(({ at }) => at)
          .sort()
          .at(-1),
        memories: from.map((memory) => ({ id: memory.id, text: memory.text })),
        ...(name === "instructions" ? { kind: "instruction" as const } : {}),
      };
    }),
  );
  const items = lines.map(({ at, ...line }) => ({ ...line, ...(at === undefined ? {} : { at }) }));
  const { text, items: taken } = fence(items, how);
  return { block: text, lines: taken };
}

/** Of an earlier profile, what does not hold any more: a model that reads it must be told. */
export function endedSince({ lines }: Profiled, now: Profile): Fenceable[] {
  const held = memoriesOf(now);
  const isGone = ({ id, text }: { id: string; text: string }): boolean => held.get(id)?.text !== text;
  return lines.flatMap(({ memories }) =>
    memories.filter(isGone).map(({ text }) => ({ text, status: "superseded" as const })),
  );
}

function memoriesOf({ kinds }: Profile): Map<string, ShownMemory> {
  return new Map(
    Object.values(kinds)
      .flat()
      .map((memory) => [memory.id, memory]),
  );
}
