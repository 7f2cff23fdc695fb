import { isCalendarName } from "../../value-shapes.ts";

const PRONOUN = /^(?:her|him|them|it)$/i;
const NAMED =
  /\b(?:[Mm]y|[Oo]ur) [\p{Ll}-]+|(?<=\p{Ll}\W+)\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*|\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+/gu;

/** "Forget her": whom the words before named last. A day or a month is nobody. `about` itself where nothing is named. */
export function antecedentOf(about: string, before: string): string {
  if (!PRONOUN.test(about)) return about;
  const named = before.match(NAMED) ?? [];
  return named.findLast((one) => !one.split(" ").every(isCalendarName)) ?? about;
}
