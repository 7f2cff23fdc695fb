import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { held, targetOf } from "../forgetting/targets.ts";
import { compose } from "./sentence.ts";

/** What two people are to each other, said of both, and the relation in which it is kept of the one who speaks. */
export const PAIRED: readonly (readonly [string, string])[] = [
  ["engaged(?: to be married)?", "be engaged to"],
  ["married|husband and wife|wife and wife|husband and husband", "be married to"],
  [
    "(?:back )?together|dating|going out|seeing each other|an item|a couple|in a relationship|partners",
    "be with",
  ],
  [
    "living together|flatmates|roommates|housemates|flat-?sharing|sharing a (?:flat|house|place|room)",
    "live with",
  ],
  ["(?:best |good |old |close )?(?:friends|mates)", "be friends with"],
  ["business partners|colleagues|co-?workers|working together", "work with"],
];

const VERBS =
  "(?:are|['’]?re|were just|have been|['’]?ve been|are now|are still|got|just got|have got|live|work|moved in)";

/** "Anaïs and I are engaged", "me and Piotr live together": of the speaker, with the other one as the value. */
export function paired(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const found =
    /^(?:(?:so|and|well|btw|oh|yes|now)[, ]+)*(?:(?<first>(?:my [\p{L}-]+(?: \p{Lu}[\p{L}'’-]+)?|\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)) and (?:I|me|i)|(?:me|I) and (?<second>(?:my [\p{L}-]+(?: \p{Lu}[\p{L}'’-]+)?|\p{Lu}[\p{L}'’-]+)))(?<rest>(?:['’]| ).+)$/u.exec(
      text,
    )?.groups;
  const whom = tidy(found?.first ?? found?.second ?? "");
  if (whom === "" || found?.rest === undefined || /^(?:So|And|Yes|Well|But)$/.test(whom)) return undefined;
  const relation = relationIn(found.rest.trim());
  if (relation === undefined) return undefined;
  const { speaker } = context.discourse;
  const value = whom.replace(/^my /i, "their ");
  const old = held(context).filter(
    ({ claim, memory }) =>
      memory?.kind === "event" && /^(?:break up with|divorce)$/.test(claim.relation) && claim.value === whom,
  );
  const target = targetOf(old);
  return [
    adding(context, place, {
      text: compose(speaker.display, relation.replace(/^be /, "is ").replace(/^(live|work) /, "$1s "), value),
      claim: claimOf(speaker.path, relation, whom),
      importance: 0.8,
      ...(target ? { replaces: target } : {}),
    }),
  ];
}

function relationIn(rest: string): string | undefined {
  for (const [words, relation] of PAIRED) {
    const pattern = new RegExp(
      `^${VERBS}(?: (?:all|both|finally|now|still|officially|happily|newly|just|recently|very much))* (?:${words})(?: now| again| at last)?(?=$|[,.!]| since| for)`,
      "i",
    );
    if (pattern.test(rest)) return relation;
  }
  if (/^(?:live|moved in|['’]ve moved in|have moved in|are moving in) together\b/i.test(rest))
    return "live with";
  return /^work together\b/i.test(rest) ? "work with" : undefined;
}
