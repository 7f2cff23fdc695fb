import type { Proposal } from "../../../../ports/language/extractor.ts";
import type { Context } from "../context.ts";
import type { Token } from "../words/token.ts";

const ASIDE =
  /^(?:(?:so|and|well|also|oh|hey|btw)[, ]+)*(?<who>(?:[Mm]y|[Oo]ur) [\p{L}'’ -]{2,40}?|\p{Lu}[\p{L}'’-]+), (?<aside>(?:an? |who |the )[^,;:.!?]{3,70}), (?<rest>[^;:.!?]{3,120})[.!]*$/u;
const FINITE =
  /^(?:(?:also|just|still|always|really|recently|now|never|only) )*(?:is|are|was|has|had|lives|works|plays|likes|loves|hates|wants|runs|owns|drives|speaks|studies|teaches|moved|bought|got|started|joined|sold|gave|made|took|left|keeps|eats|drinks|collects|sings|writes|paints|cooks|needs|does|will|can|can't|doesn't|isn't|hasn't)\b/i;

/**
 * "My sister Ana, a nurse in Porto, has two cats", "my boss, who lives in Ghent, sails": two statements about the same
 * one, each read by itself; undefined where nothing stands between the commas, or one of them tells nothing.
 */
export function asides(
  context: Context,
  tokens: readonly Token[],
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  if (tokens.length > 40 || tokens.some(({ quoted }) => quoted)) return undefined;
  const found = ASIDE.exec(text.replace(/\s+/g, " ").trim())?.groups;
  const { who, aside = "", rest = "" } = found ?? {};
  if (who === undefined || !FINITE.test(rest)) return undefined;
  const told = /^who /i.test(aside) ? aside.slice(4) : `is ${aside}`;
  const first = context.readAs(`${who} ${told}.`, place);
  const second = context.readAs(`${who} ${rest}.`, place);
  return first.length > 0 && second.length > 0 ? [...first, ...second] : undefined;
}
