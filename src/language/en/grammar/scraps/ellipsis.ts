import type { Proposal } from "../../../../ports/language/extractor.ts";
import { planOver } from "../changes/change-plans.ts";
import { putOn, reworded } from "../changes/change-swaps.ts";
import { readNarrowing } from "../changes/narrowings.ts";
import { newcomer, rebranded } from "../changes/newcomers.ts";
import { born, counted } from "../changes/quantities.ts";
import { resumed } from "../changes/resumptions.ts";
import { settledIn } from "../claims/homes.ts";
import { newJob } from "../claims/jobs.ts";
import { paired } from "../claims/pairs.ts";
import { lastBreath } from "../claims/told.ts";
import type { Clause } from "../clauses/clauses.ts";
import { type Context, ending } from "../context.ts";
import { withoutSlip } from "../corrections/slips.ts";
import { takenBack } from "../corrections/taken-back.ts";
import { targetOf } from "../forgetting/targets.ts";
import type { Token } from "../words/token.ts";
import { replyTo } from "./asked.ts";
import { agreed } from "./echoes.ts";
import { NO } from "./yes-no-words.ts";

interface Sentence {
  readonly context: Context;
  readonly tokens: readonly Token[];
  readonly clauses: readonly Clause[];
  /** Without the marks at its ends. */
  readonly text: string;
  readonly place: { readonly start: number; readonly end: number };
}

/** A sentence that says less than it means, and leaves the rest to what was said before; undefined for all others. */
export function elliptical(sentence: Sentence): Proposal[] | undefined {
  const { context, tokens, text, place } = sentence;
  if (tokens.length > 24 || context.content.slice(place.end, place.end + 2).includes("?")) return undefined;
  if (/^(?:it['’]?s|it is|not)(?: not)? (?:like|as if|as though|that) (?:i|we)\b/i.test(text)) return [];
  return (
    takenBack(context, text, place) ??
    agreed(context, tokens, text, place) ??
    (NO.test(text) ? replyTo({ context, text, place }) : undefined) ??
    paired(context, text, place) ??
    newcomer(context, text, place) ??
    newJob(context, text, place) ??
    settledIn(context, text, place) ??
    rebranded(context, text, place) ??
    overNow(sentence) ??
    counted(context, text, place) ??
    born(context, text, place) ??
    resumed(context, text, place) ??
    planOver(context, text, place) ??
    plainly(sentence) ??
    putOnBy(sentence) ??
    hedgedReply(sentence) ??
    readNarrowing(context, text, place) ??
    slipped(sentence)
  );
}

const NOT_NOW =
  /^(?:(?:no|nope|nah|na|well|sadly|but|actually|oh|hm+|haha|lol|yeah|unfortunately)[,. ]+)*not (?:any ?more|any longer|now|these days)(?:,? (?:though|tho|sadly|unfortunately|alas|tbh|lol|really))*(?:$|[,;.–—-]+\s*(?<rest>.+)$)/i;

/** "not anymore though, sold it in May": what was told last is over, and why. */
function overNow({ context, text, place }: Sentence): Proposal[] | undefined {
  const found = NOT_NOW.exec(text);
  const last = found ? lastBreath(context, place.start) : [];
  const target = last.length > 0 && last.length <= 3 ? targetOf(last) : undefined;
  if (!found || !target) return undefined;
  const rest = found.groups?.rest ?? "";
  return [ending(context, place, target), ...(rest === "" ? [] : context.readAs(rest, place))];
}

/** "green I think", "it's Sunniva now", "two, actually three": an answer that is a clause by its form alone. */
function hedgedReply({ context, tokens, clauses, text, place }: Sentence): Proposal[] | undefined {
  if (tokens.length > 9 || tokens.length === 0) return undefined;
  const isAnswer = clauses.every(({ tokens: all, subject, verb }) => {
    const first = subject && all[subject[0]]?.lower;
    return /^(?:it|that|he|she|they|mine)$/.test(first ?? "")
      ? verb.copula
      : /^(?:think|guess|say|suppose)$/.test(verb.lemma);
  });
  return isAnswer && clauses.length > 0 ? replyTo({ context, text, place }) : undefined;
}

/** "Excel is out, Numbers is in": where that changes something. */
function plainly({ context, text, place }: Sentence): Proposal[] | undefined {
  const plain = reworded(text);
  const proposals = plain === undefined ? [] : context.readAs(plain, place);
  return proposals.some((one) => one.propose !== "add" || one.replaces) ? proposals : undefined;
}

/** "The doctor has put me on insulin": what one is on then. */
function putOnBy({ context, text, place }: Sentence): Proposal[] | undefined {
  const plain = putOn(text);
  const proposals = plain === undefined ? [] : context.readAs(plain, place);
  return proposals.length > 0 ? proposals : undefined;
}

/** "I've got two, no wait, three cats" */
function slipped({ context, text, place }: Sentence): Proposal[] | undefined {
  const meant = withoutSlip(text);
  return meant === undefined ? undefined : context.readAs(meant, place);
}
