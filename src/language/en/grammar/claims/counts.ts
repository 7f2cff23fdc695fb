import type { Proposal } from "../../../../ports/language/extractor.ts";
import { antecedent } from "../clauses/antecedents.ts";
import type { Context } from "../context.ts";

const OF_THEM =
  /(?:^|[,;.!?] ?|\b(?:and|so|but) )(?:i have|i've got|we have|we've got|i own|we own|there's|there are|there is|got|i've) (?<many>(?:about |around |over |nearly |almost |at least )?(?:\d[\d,.]*|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|a hundred|hundred)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand))*)) of (?:them|those)\b/i;

/** "I collect stamps, I have four thousand of them": how many, of what was named right before. */
export function countsOf(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  const found = OF_THEM.exec(text);
  const many = found?.groups?.many;
  if (!found || many === undefined) return [];
  const before = text.slice(0, found.index).replace(/[,;.!?]?\s*$/, "");
  const thing = before === "" ? antecedent(context, "them", place.start) : lastPlural(before);
  return thing === undefined ? [] : context.readAs(`I have ${many} ${thing}.`, place);
}

function lastPlural(text: string): string | undefined {
  return /\b(?<noun>[\p{L}-]+[^s\W]s)$/u.exec(text)?.groups?.noun;
}
