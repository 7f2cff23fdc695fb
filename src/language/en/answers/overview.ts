import type { Memory } from "../../../domain/memory.ts";
import { toSecondPerson, toSentence } from "../../../domain/text/english-forms.ts";

/** "What do you know about me?" and its like: no single thing is asked for, but all that is known. */
const WHOLE =
  /^(?:(?:so|ok(?:ay)?|hey|and|please|well|can you|could you|would you)[,\s]+)*(?:what(?:'s| is| do| have| did)? (?:(?:all|everything) )?(?:(?:that )?you (?:still |already |now |really )?(?:know|remember|recall|got|have|learn(?:t|ed)?|stored?|kept|keep|noted)(?: stored| saved| noted| down)?(?: (?:about|of|on) (?:me|myself))?|i(?:'ve| have)? (?:tell|told) you(?: (?:about (?:me|myself)))?)(?: (?:so far|until now|up to now|already))?|who am i|(?:tell me|say|list|show me|summari[sz]e|give me|sum up) (?:(?:about (?:me|myself))|(?:what|everything|all)(?: that)? (?:you (?:know|remember|have)|i(?:'ve| have)? told you)(?: (?:about|of|on) (?:me|myself))?)(?: so far)?|describe me)\s*[?.!]*$/i;

/** Whether a question asks for all that is known about the user. */
export function asksForAll(question: string): boolean {
  return WHOLE.test(question.trim().replaceAll("’", "'"));
}

/** More would not be read in a conversation; the profile has all. */
const MOST = 12;

/** What holds about the user, the weightiest first, as one would say it; nothing where nothing is known. */
export function overview(
  memories: readonly Memory[],
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (memories.length === 0) return undefined;
  const ordered = [...memories].sort((a, b) => weight(b) - weight(a) || (a.id < b.id ? -1 : 1));
  const told = ordered.slice(0, MOST);
  const said = told.map(({ text }) => toSentence(toSecondPerson(text)));
  const more = memories.length - told.length;
  const rest = more > 0 ? [`And ${more} more ${more === 1 ? "thing" : "things"}.`] : [];
  return { text: [...said, ...rest].join(" "), used: told.map(({ id }) => id) };
}

function weight({ importance, confidence, evidence, kind }: Memory): number {
  const lasting = kind === "event" ? 0.6 : 1;
  return importance * confidence * lasting * (1 + Math.log2(evidence) / 10);
}
