import type { Proposal } from "../../../../ports/language/extractor.ts";
import type { Context } from "../context.ts";

interface Place {
  readonly start: number;
  readonly end: number;
}

const QUESTION = /([^.!?\n]{4,160})\?[\s?]*$/;
const ANSWER =
  /^(?:(?:yes|yeah|yep|well|oh|me|because|cause|and|lol|haha)[, ]+)*(?:i|we) (?<verb>do|am|can|are)(?: too|,? (?:actually|very much|indeed|a lot|lol|haha))?(?=$|[,.!;]| (?:and|but|especially|because)\b)/i;
const MINE =
  /^(?:(?:well|oh|and|so)[, ]+)*(?:mine|my own)(?: (?:is|are|was|would be|has to be|would have to be)|'s|s) (?<value>[^,;.!?]{2,60})/i;
const COUNT =
  /^(?:(?:yes|yeah|well|oh)[, ]+)*(?:i|we) (?:have|'ve got|have got|got|own) (?<many>one|two|three|four|five|six|seven|eight|nine|ten|\d+|a few|a couple|several|lots|many)(?: of (?:them|those))?(?=$|[,.!;]| (?:and|but|named|called)\b)/i;

/**
 * What somebody answers to their own question in the same message: "Do you like gardening? I do.", "What's your favourite
 * drink? Mine is cider." It is read as the statement that it stands for; undefined for everything else.
 */
export function selfAnswer(context: Context, text: string, place: Place): Proposal[] | undefined {
  const asked = QUESTION.exec(
    context.content.slice(Math.max(0, place.start - 200), place.start),
  )?.[1]?.trim();
  if (asked === undefined) return undefined;
  const plain = text.replace(/[’]/g, "'");
  const statement = agreeing(asked, plain) ?? counting(asked, plain) ?? ofMine(asked, plain);
  if (statement === undefined) return undefined;
  const proposals = context.readAs(statement, place);
  return proposals.length > 0 ? proposals : undefined;
}

/** "do you like to sail boats" + "I do" -> "I like to sail boats" */
function agreeing(asked: string, text: string): string | undefined {
  const verb = ANSWER.exec(text)?.groups?.verb?.toLowerCase();
  const found = /\b(?<verb>do|are|can) (?:you|u|ya)(?: guys| all)? (?:also |ever |still )?(?<rest>.+)$/i.exec(
    asked,
  );
  const rest = found?.groups?.rest?.trim().replace(/ (?:too|as well|either|much|at all)$/i, "");
  if (verb === undefined || !found || rest === undefined) return undefined;
  if (
    MEETS[found.groups?.verb?.toLowerCase() ?? ""] !== verb &&
    !(verb === "are" && found.groups?.verb === "are")
  )
    return undefined;
  const own = rest
    .replace(/\byour\b/gi, "my")
    .replace(/\bany\b/gi, "some")
    .replace(/\byou\b/gi, "I");
  return `I ${verb === "do" ? "" : verb === "are" ? "am " : `${verb} `}${own}.`;
}

const MEETS: Readonly<Record<string, string>> = { do: "do", are: "am", can: "can" };

/** "do you have any kids" + "I have two" -> "I have two kids" */
function counting(asked: string, text: string): string | undefined {
  const many = COUNT.exec(text)?.groups?.many;
  const noun =
    /\b(?:do (?:you|u|ya) (?:have|own|like|got)|(?:have )?(?:you )?got|how many|have) (?:any |some |a |an |other )*(?<noun>[\p{L}'-]+(?: [\p{L}'-]+)?)$/iu.exec(
      asked.replace(/ (?:too|yourself|at home|as well|do you have|of your own)$/i, ""),
    )?.groups?.noun;
  if (many === undefined || noun === undefined) return undefined;
  const one = /^(?:one|1)$/i.test(many);
  return `I have ${many}${/^(?:lots|a couple)$/i.test(many) ? " of" : ""} ${one || /s$/.test(noun) ? noun : `${noun}s`}.`;
}

/** "what's your favourite drink" + "mine is cider" -> "My favourite drink is cider" */
function ofMine(asked: string, text: string): string | undefined {
  const value = MINE.exec(text)?.groups?.value?.trim();
  const noun = /\b(?:your|ur) (?<noun>[\p{L}' -]{3,40}?)(?: and why| right now| these days)?$/iu.exec(asked)
    ?.groups?.noun;
  return value === undefined || noun === undefined ? undefined : `My ${noun.trim()} is ${value}.`;
}
