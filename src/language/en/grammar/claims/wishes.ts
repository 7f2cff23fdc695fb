import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, thirdPerson, tidy } from "../context.ts";
import type { Token } from "../words/token.ts";
import { compose } from "./sentence.ts";

interface Place {
  readonly start: number;
  readonly end: number;
}

const WISH =
  /(?:^|[,;:.!?] *|\b(?:and|but|so|though|lol|always|really|just|sometimes|also|well|do) |\bi (?:really |always |often |just |sometimes |do )*)wish (?:that )?(?:i|we) (?<verb>could|had|was|were|knew|lived|owned|worked|spoke|played|did|got) (?<rest>[^,;:.!?]{2,80})/iu;
const ENDS = / (?:i|we|my|but|so|because|cause|though|and (?:i|we|my|then)|lol|haha|do you|what|how)\b.*$/i;

/** "I wish I could play the harp": a preference, and never said to be so. */
export function wishesOf(context: Context, text: string, place: Place): AddProposal[] {
  const found = WISH.exec(text.replace(/[’]/g, "'"))?.groups;
  const { speaker } = context.discourse;
  const rest = tidy((found?.rest ?? "").replace(ENDS, ""));
  if (!found?.verb || rest === "" || /^(?:not|never|too|so)$/i.test(rest)) return [];
  const told = thirdPerson(rest, context, speaker);
  const they = speaker.path === "user" ? "they" : speaker.display;
  const verb = found.verb === "was" && they === "they" ? "were" : found.verb;
  return [
    adding(context, place, {
      text: compose(speaker.display, "wishes", they, verb, told),
      claim: claimOf(speaker.path, "wish", `I ${found.verb} ${rest}`),
      kind: "preference",
      holds: "many",
      confidence: 0.7,
      importance: 0.4,
    }),
  ];
}

/** A sentence at its commas and before "but". */
export function piecesOf(tokens: readonly Token[]): Token[][] {
  const pieces: Token[][] = [[]];
  for (const [i, token] of tokens.entries()) {
    if (token.lower === "but" && i > 0) pieces.push([]);
    pieces.at(-1)?.push(token);
    if (token.after.includes(",")) pieces.push([]);
  }
  return pieces;
}
