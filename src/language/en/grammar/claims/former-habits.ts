import { toGerund } from "../../../../domain/text/english-forms.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import type { Context } from "../context.ts";

const FORMER =
  /\b(?:i|we) used to (?<verb>\p{L}+)(?<rest>(?: [^,;.!?]{1,40}?)?),? (?:but|until|till|and then|then|and) (?:i |we )?(?:finally |eventually |just |have |'ve )*(?:quit|stopped|gave (?:it |that )?up|given (?:it |that )?up|packed it in)(?: it| that| doing (?:it|that))?(?<when> (?:in|last|on|at|when|two|three|a few|ages|years|this|after|before)\b[^,;.!?]*)?(?=$|[,;.!?])/iu;

/** "I used to bite my nails but I quit in 2015": what was stopped, and when. */
export function formerHabits(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  const found = FORMER.exec(text)?.groups;
  if (!found?.verb || /^(?:be|have|live|own)$/i.test(found.verb)) return [];
  const doing = `${toGerund(found.verb.toLowerCase())}${found.rest ?? ""}`;
  return context.readAs(`I stopped ${doing}${found.when ?? ""}.`, place);
}
