import { singular } from "../../domain/english.ts";
import type { AddProposal } from "../../ports/extractor.ts";
import type { Statement } from "./context.ts";
import type { Token } from "./token.ts";

/** What work at a computer is about: parts of programs, and the tools by their parts. */
const PARTS = new Set(
  "branch variable function method class config configuration file folder directory script build test unit-test suite server migration query error bug stacktrace exception warning code codebase commit repo repository merge endpoint api log dependency package module import container image pipeline deployment deploy ticket page login column row cell spreadsheet formula table schema index cache loop array string parameter argument flag patch diff pr component button dropdown css stylesheet selector regex compiler linter terminal console cluster pod node instance job cron webhook token header payload request response route handler callback thread process port socket proxy docker dockerfile makefile readme changelog version release prompt line".split(
    " ",
  ),
);
/** "the test", "my page": these are of life too, and of work only with "the" or in many. */
const TWOFOLD = new Set(
  "test class file page ticket image package table job line version server column flag thread port node button module header request patch instance index prompt formula release folder".split(
    " ",
  ),
);

/** Whether a claim tells how the task at hand goes: "I just pushed the branch", "the tests are green". */
export function isTaskTalk({ clause, subject }: Statement, proposal: AddProposal): boolean {
  const { tokens, verb } = clause;
  const span = clause.subject;
  if (span && isPart(tokens, span[0], span[1])) return true;
  if (!subject.animate || proposal.kind === "preference") return false;
  const isPassing = verb.tense === "past" || verb.perfect || verb.progressive;
  return isPassing && objects(tokens, clause.rest).some(([from, to]) => isPart(tokens, from, to));
}

/** Phrases with "the", "this" or a number in front: from there to the last noun of the phrase. */
function objects(tokens: readonly Token[], [from, to]: readonly [number, number]): [number, number][] {
  const found: [number, number][] = [];
  for (let at = from; at < to; at += 1) {
    if (!OPENERS.test(tokens[at]?.lower ?? "")) continue;
    let end = at + 1;
    while (end < to && ["noun", "name", "adjective", "number", "verb"].includes(tokens[end]?.class ?? ""))
      end += 1;
    found.push([at, end]);
  }
  return found;
}

const OPENERS = /^(?:the|this|that|these|those|a|an|my|our|all|both|two|three)$/;

function isPart(tokens: readonly Token[], from: number, to: number): boolean {
  const first = tokens[from]?.lower ?? "";
  const last = tokens[to - 1]?.lower ?? "";
  const one = singular(last);
  if (!PARTS.has(one) || to - from < 2) return false;
  const isClear = !TWOFOLD.has(one) || (first === "the" && (one !== last || isCompound(tokens, from, to)));
  return isClear || (first === "the" && one === "test" && one !== last);
}

/** "the config file", "the login page": two parts in one name. */
function isCompound(tokens: readonly Token[], from: number, to: number): boolean {
  return tokens.slice(from + 1, to - 1).some(({ lower }) => PARTS.has(singular(lower)));
}
