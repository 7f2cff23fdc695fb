import { ASSOCIATION_TYPES, type AssociationType } from "../domain/change-set.ts";
import type { ScopedMemory } from "../engine/api.ts";

/** An association of an export. It names its memories by their texts, because an import gives them other ids. */
export interface ExportedLink {
  readonly from: string;
  readonly to: string;
  readonly type: AssociationType;
  readonly strength: number;
}

/** Creates a reader of the lines of one export, in order. It gives an association for each line that has a valid one. */
export function createLinkReader(): (
  type: unknown,
  body: { readonly [field: string]: unknown },
) => ExportedLink | undefined {
  const texts = new Map<unknown, string>();
  return (lineType, body) => {
    if (lineType === "memory" && body.status === "current" && typeof body.text === "string")
      texts.set(body.id, body.text);
    if (lineType !== "link") return undefined;
    const [from, to] = [texts.get(body.from), texts.get(body.to)];
    const type = ASSOCIATION_TYPES.find((one) => one === body.type);
    const { strength } = body;
    const isValid = typeof strength === "number" && strength >= 0 && strength <= 1;
    return from !== undefined && to !== undefined && from !== to && type && isValid
      ? { from, to, type, strength }
      : undefined;
  };
}

/** Associates memories as an export says. Leaves out associations that exist, and those of memories that do not. */
export async function addMissingLinks(memory: ScopedMemory, links: readonly ExportedLink[]): Promise<void> {
  if (links.length === 0) return;
  const ids = new Map<string, string>();
  for await (const { id, text } of memory.list({ limit: 1000 })) ids.set(text, id);
  for (const { from: fromText, to: toText, type, strength } of links) {
    const [from, to] = [ids.get(fromText), ids.get(toText)];
    if (from === undefined || to === undefined) continue;
    const { items } = await memory.links({ memory: from, type, limit: 1000 });
    if (items.some((one) => one.from === from && one.to === to)) continue;
    await memory.link(from, to, { type, strength });
  }
}
