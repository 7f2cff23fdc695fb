import type { PromptGuard } from "../../../ports/language/prompt-guard.ts";
import { findInjections, findInjectionsInSteps, findJointBefore } from "./find-injections.ts";
import { findPastedText, findQuotes } from "./pasted-text.ts";
import { isStyleRequest } from "./style-requests.ts";

/** Finds prompt injections in English texts, and in other languages by their signs. */
export const englishPromptGuard: PromptGuard = {
  findInjections,
  findInjectionsInSteps,
  findJointBefore,
  findPastedText,
  findQuotes,
  isStyleRequest,
};
