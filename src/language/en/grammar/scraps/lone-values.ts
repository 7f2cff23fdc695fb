import { tidy } from "../context.ts";
import { BEHIND, BRINGS, OPEN } from "../corrections/correction-words.ts";

const OPENED = new RegExp(`^${OPEN}`, "iu");

/** "sorry, Tuesday", "oops no, it's Saturday, I mixed it up": what is left when the openers go, where that is one thing. */
export function loneValues(text: string): string[] {
  const behind = text.trim().replace(BEHIND, "");
  const plain = behind.replace(OPENED, "");
  const pieces = [plain, ...text.split(/(?:[,;!:–—]|\.(?!\d))\s+/)].flatMap((piece) => {
    const opened = piece.trim().replace(OPENED, "");
    return opened.split(/(?:[,;!:–—]|(?<!\b\p{Lu})\.(?!\d))(?:\s+|$)/u)[0] ?? "";
  });
  return [...new Set(pieces.map(valueIn))].filter((value) => value !== "" && isOneThing(value));
}

/** "it's the 19th" -> "19th"; how somebody spells it goes. */
function valueIn(piece: string): string {
  const bare = piece.replace(BRINGS, "").replace(BRINGS, "");
  return tidy(bare.replace(/ with (?:an?|one|two|no) (?:\S+ )?['"“]?\p{L}['"”]?s?$/iu, ""));
}

function isOneThing(value: string): boolean {
  const isSaid =
    /\b(?:i|you|we|he|she|they|am|is|are|was|have|has|do|does|did|got|my|wrong|typo|mistake|not|that|this|it|its|sorry|actually)\b/i;
  return value.split(" ").length <= 5 && !isSaid.test(value);
}
