import type { Where } from "../filters/metadata-filter.ts";
import type { WhereText } from "../filters/text-filter.ts";
import type { Item, Recall } from "../recall.ts";

/** Options of `context`. An unknown option throws `invalid_input`. */
export interface ContextOptions {
  /** Token budget for `text`, as `tokens` counts (default 1,500). */
  readonly maxTokens?: number;
  /** What was true at this time. */
  readonly asOf?: Date | string;
  /** Only statements made in this session. */
  readonly session?: string;
  /** Only memories and messages whose metadata matches. */
  readonly where?: Where;
  /** Only memories and passages whose own text matches. */
  readonly whereText?: WhereText;
  /** False leaves out what other users share (default true). With `session` or `asOf`, only the user's own is used. */
  readonly shared?: boolean;
  /** Cancels the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a model is told before it answers a request. */
export interface PromptContext {
  /** The whole text for the prompt: `parts.standing`, then `parts.request`. Empty if nothing is known. */
  readonly text: string;
  /** The estimated size of `text`, in tokens; never more than `maxTokens`. */
  readonly tokens: number;
  /**
   * The same text in two parts. `standing` (wishes for answers, profile) has the same bytes for each request until the
   * memories in it change, so a provider can cache it. `request` is for this request alone.
   */
  readonly parts: { readonly standing: string; readonly request: string };
  /** What went in beyond the profile, best first. `text` is what was shown: without sentences that no longer hold. */
  readonly items: readonly Item[];
  /** The number of relevant items that did not fit. */
  readonly left: number;
  /** The recall behind it, for `explain`. */
  readonly recall: Recall;
}
