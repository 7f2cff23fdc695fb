import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import { adding, type Context, claimOf, type Statement, thirdPerson } from "../context.ts";
import { ANIMALS, FEMALE, KIN, MALE, PERSONS } from "../words/lexicon.ts";

/**
 * Who shares a home or a place of work is a memory of its own: "I live in Lisbon with my dog Miso". Another home does not
 * end the dog, and an erasure of the dog does not take the home.
 */
const SHARED: ReadonlyMap<string, { readonly relation: string; readonly verb: readonly [string, string] }> =
  new Map([
    ...sharing("live in|live at|live on|live near", "live with", ["lives with", "live with"]),
    ...sharing("work at|work for|work in", "work with", ["works with", "work with"]),
  ]);

function sharing(relations: string, relation: string, verb: readonly [string, string]) {
  return relations.split("|").map((one) => [one, { relation, verb }] as const);
}

const OWN = "(?:my|our|his|her|their|two|three|four|five|six|an?|the)";
const NAME = "\\p{Lu}[\\p{L}'’-]*(?: \\p{Lu}[\\p{L}'’-]*){0,2}";
const ONE = `(?:${OWN} (?:\\p{Ll}[\\p{Ll}-]* ){0,3}?\\p{Ll}[\\p{Ll}-]*(?:,? (?:called |named )?${NAME})?|${NAME}|(?:\\p{Ll}[\\p{Ll}-]*))`;
const WITH = new RegExp(
  `(?:^| )with (?<who>${ONE}(?:(?:, and |, | and )${ONE})*)(?= (?:in|on|at|near|by|for|since|from|until|as|during|under|over|close|next|every|this|who|which)\\b|[,.;!?]|$| (?:and|but) (?:i|I|we|it|my)\\b)`,
  "u",
);
const BETWEEN = /,? and |, /;
const COMPANY = new Set(
  "family girls boys cats dogs pets folks people others grandparents in-laws wife husband team group".split(
    " ",
  ),
);

/** A proposal, and what it says of companions, each for themselves; the proposal alone where it says nothing of them. */
export function companionsApart<One extends Proposal>(
  context: Context,
  statement: Statement,
  proposal: One,
): (One | AddProposal)[] {
  if (proposal.propose !== "add") return [proposal];
  const { claim, text, validTo } = proposal;
  const { subject } = statement;
  const shared = claim && SHARED.get(claim.relation);
  if (!shared || claim.subject !== subject.path || validTo) return [proposal];
  const who =
    companyIn(claim.qualifier ?? "") ?? companyIn(context.content.slice(proposal.start, proposal.end));
  if (who === undefined) return [proposal];
  const [before = "", after = "", ...more] = text.split(` with ${thirdPerson(who, context, subject)}`);
  // What goes on behind them belongs to them.
  const isWhole = more.length === 0 && /^(?:[.]| \p{Ll})/u.test(after) && !/^ (?:and|or|but)\b/.test(after);
  if (!isWhole) return [proposal];
  const qualifier = (claim.qualifier ?? "").replace(`with ${who}`, "").replace(/\s+/g, " ").trim();
  const { start, end, when, validFrom } = proposal;
  const companions = who.split(BETWEEN).map((one) =>
    adding(
      context,
      { start, end },
      {
        text: `${subject.display} ${shared.verb[subject.plural ? 1 : 0]} ${thirdPerson(one, context, subject)}.`,
        claim: claimOf(claim.subject, shared.relation, one),
        ...(when ? { when } : {}),
        ...(validFrom ? { validFrom } : {}),
      },
    ),
  );
  const alone = {
    ...proposal,
    text: before + after,
    claim: claimOf(claim.subject, claim.relation, claim.value, qualifier),
  };
  return [alone, ...companions];
}

function companyIn(text: string): string | undefined {
  const who = WITH.exec(text)?.groups?.who;
  return who !== undefined && isCompany(who) ? who : undefined;
}

/** Whether words name people or animals: "my dog Miso", "Ana", "my wife and two kids"; not "a laptop". */
function isCompany(who: string): boolean {
  return who.split(BETWEEN).every((one) => {
    if (/^\p{Lu}/u.test(one)) return true;
    const nouns = one.match(/\p{Ll}[\p{Ll}-]*/gu) ?? [];
    return nouns.some((noun) => isBeing(noun) || isBeing(toSingular(noun)));
  });
}

function isBeing(noun: string): boolean {
  return [ANIMALS, PERSONS, KIN, FEMALE, MALE, COMPANY].some((nouns) => nouns.has(noun));
}
