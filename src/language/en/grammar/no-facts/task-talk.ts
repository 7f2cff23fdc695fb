import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import type { Statement } from "../context.ts";
import type { Stretch, Token } from "../words/token.ts";

/** Parts of programs, and of the tools that make them, which are nothing else. */
const PARTS = new Set(
  "variable config configuration directory unit-test migration query bug stacktrace exception codebase commit repo repository endpoint api deployment schema dropdown css stylesheet selector regex compiler linter cron webhook dockerfile makefile readme changelog pr diff dependency cache middleware backend frontend login".split(
    " ",
  ),
);
/** What is a part of a program in its company alone: behind another such, in many with "the", or with a verb of the work. */
const TWOFOLD = new Set(
  "test class file folder script build suite server error warning code merge branch function method module package import container image pipeline ticket page column row cell table index loop array string parameter argument flag patch component button terminal console cluster node instance job header request response route handler callback thread process port proxy version release prompt line log".split(
    " ",
  ),
);
const WORKED =
  /^(?:push|pull|merge|deploy|commit|rename|refactor|compile|debug|import|install|run|rerun|rebase|revert|return|throw|fail|crash|patch|update|configure|execute|parse|build|fix|test)$/;

/** Whether a claim tells how the task at hand goes: "I just pushed the branch", "the tests are green". */
export function isTaskTalk({ clause, subject }: Statement, proposal: AddProposal): boolean {
  const { tokens, verb, rest } = clause;
  const isWorked = WORKED.test(verb.lemma);
  const span = clause.subject;
  const isBroken = verb.copula && BROKEN.test(tokens[rest[0]]?.lower ?? "");
  if (span && (isPart(tokens, span, isWorked || isBroken) || isAtLine(tokens, rest))) return true;
  if (!subject.animate || proposal.kind === "preference") return false;
  const isPassing =
    verb.tense === "past" || verb.perfect || verb.progressive || /^(?:get|see|hit)$/.test(verb.lemma);
  return isPassing && objects(tokens, rest).some((object) => isPart(tokens, object, isWorked));
}

const BROKEN =
  /^(?:broken|failing|red|green|down|stuck|slow|flaky|deprecated|outdated|empty|missing|undefined|null|up|live|deployed|merged)$/;

/** "stuck at line 40" */
function isAtLine(tokens: readonly Token[], [from, to]: Stretch): boolean {
  return tokens
    .slice(from, to)
    .some(({ lower }, k) => lower === "line" && tokens[from + k + 1]?.class === "number");
}

const OPENERS = /^(?:the|this|that|these|those|a|an|my|our|all|both|two|three)$/;
const INSIDE = ["noun", "name", "adjective", "number", "verb"];

/** Phrases with "the", "my", a number or the like in front. */
function objects(tokens: readonly Token[], [from, to]: Stretch): Stretch[] {
  const found: Stretch[] = [];
  for (let at = from; at < to; at += 1) {
    if (!OPENERS.test(tokens[at]?.lower ?? "")) continue;
    let end = at + 1;
    while (end < to && INSIDE.includes(tokens[end]?.class ?? "")) end += 1;
    found.push([at, end]);
  }
  return found;
}

function isPart(tokens: readonly Token[], [from, to]: Stretch, isWorked: boolean): boolean {
  const last = tokens[to - 1]?.lower ?? "";
  const one = toSingular(last);
  if (to - from < 2) return false;
  // "the login form": a word for a part tells what the thing is.
  const inside = tokens.slice(from + 1, to - 1).some(({ lower }) => PARTS.has(toSingular(lower)));
  if (PARTS.has(one) || (inside && tokens[from]?.lower === "the")) return true;
  if (!TWOFOLD.has(one)) return false;
  const isMany = tokens[from]?.lower === "the" && one !== last && to - from === 2;
  // "I failed my driving test": one's own is of life.
  const isOwn = /^(?:my|our)$/.test(tokens[from]?.lower ?? "");
  return (
    isMany ||
    (isWorked && !isOwn) ||
    tokens.slice(from + 1, to - 1).some(({ lower }) => PARTS.has(toSingular(lower)))
  );
}
