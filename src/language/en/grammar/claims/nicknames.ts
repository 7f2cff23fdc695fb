import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { compose } from "./sentence.ts";

const CALLED =
  /\b(?:they|people|every(?:one|body)|most people|(?:my |all my )?(?:friends|family|mates|colleagues|parents|coworkers|students|kids)|folks)(?: (?:all|always|usually|just|mostly|also))? call(?:s)? me (?<name>[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)(?=$|[,;.!?]| (?:and|but|because|for|since|at|now)\b)/iu;
const NO_NAME =
  /^(?:back|up|out|in|on|at|when|if|every|later|now|names?|crazy|weird|lazy|stupid|mad|again|by|often|all|a|an|the|too|so|over|just|because|for|that|it|this|what)$/i;

/** "They call me Slim": a name beside one's own. */
export function nicknames(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] {
  const name = tidy(CALLED.exec(text)?.groups?.name ?? "");
  if (name === "" || NO_NAME.test(name)) return [];
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is nicknamed", name),
      claim: claimOf(speaker.path, "be nicknamed", name),
      importance: 0.7,
    }),
  ];
}
