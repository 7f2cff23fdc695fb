import type { Memory } from "../../../../domain/memory.ts";
import { splitWords } from "../../../../domain/search/search-terms.ts";

const ORDER =
  /^(?:(?:please|pls|ok(?:ay)?|hey|and|also|now|can you|could you|would you|just)[, ]+)*(?:forget|erase|delete)\s+(?:the|my|our|that|this)\s+(?<thing>[\p{L}\p{N}][\p{L}\p{N} '’-]*?)(?:,?\s+(?:please|pls|now|again|thanks|thank you|for me|entirely|completely))*\s*[.!?]*$/iu;

/** "delete the bike lock number": a thing of which something is known is memory, whatever its noun is beside that. */
export function knownThing(text: string, known: readonly Pick<Memory, "claim">[]): string | undefined {
  const thing = ORDER.exec(text.trim())?.groups?.thing;
  if (thing === undefined) return undefined;
  const run = splitWords(thing).join(" ");
  // A noun alone is as often a thing of the world: "remove the car".
  if (!run.includes(" ")) return undefined;
  const isKnown = known.some(({ claim }) =>
    (claim?.subject ?? "")
      .toLowerCase()
      .split("/")
      .slice(1)
      .some((part) => splitWords(part).join(" ") === run),
  );
  return isKnown ? `my ${thing}` : undefined;
}
