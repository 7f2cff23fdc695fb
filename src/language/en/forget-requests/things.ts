import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findShapedValues, findSlot, isDistinctValue } from "../value-shapes.ts";

const JOINT = /:\s+|,?\s+(?:and|n?or|as well as|plus)\s+(?:also\s+)?|[,;]\s+(?:and\s+)?/gi;
const AGAIN = /^(?:also )?(?:delete|erase|forget|remove|purge|wipe|scrub|clear|drop)\s+/i;
const DETERMINED =
  /^(?:the|my|our|his|her|their|its|this|that|these|those|any|all|every|both|what|everything|anything|\p{Lu}[\p{L}-]*['’]s)\b/iu;

/**
 * The things of a list: "the desk number, the note about Rosa and gate code 2271". It is cut where the next part begins
 * a thing of its own: with an article, with a value, or with a noun of information among its first words.
 */
export function thingsIn(phrase: string): string[] {
  const shaped = findShapedValues(phrase);
  const things: string[] = [];
  let from = 0;
  for (const { 0: joint, index } of phrase.matchAll(JOINT)) {
    if (shaped.some(({ start, end }) => start < index && index < end)) continue;
    const rest = phrase.slice(index + joint.length);
    const isName =
      shaped.some(isDistinctValue) &&
      /^\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*){0,4}\s*(?:,|$|and\b)/u.test(rest);
    if (!isName && !joint.startsWith(":") && !beginsThing(rest)) continue;
    things.push(phrase.slice(from, index));
    from = index + joint.length;
  }
  things.push(phrase.slice(from));
  return things
    .map((thing) => thing.trim().replace(AGAIN, ""))
    .flatMap(timeAndPlace)
    .filter((thing) => thing !== "");
}

/** "6:45 AM at the tram stop": when, and where. */
function timeAndPlace(thing: string): string[] {
  const [time] = findShapedValues(thing);
  if (time?.shape !== "time" || time.start > 0) return [thing];
  const place = /^\s+(?:at|on|in|by|under|behind) (?:the )?/i.exec(thing.slice(time.end));
  return place ? [time.text, thing.slice(time.end + place[0].length)] : [thing];
}

function beginsThing(rest: string): boolean {
  if (DETERMINED.test(rest) || AGAIN.test(rest)) return true;
  const [part = ""] = rest.split(/,|;|\band\b/i);
  if (findShapedValues(part).some(({ start }) => start < 24)) return true;
  return splitWords(part)
    .slice(0, 3)
    .some((word) => findSlot(stem(word)) !== undefined);
}
