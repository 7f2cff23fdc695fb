import type { Context } from "../context.ts";
import type { Token } from "../words/token.ts";

export interface Fragment {
  readonly context: Context;
  readonly tokens: readonly Token[];
  readonly text: string;
  readonly place: { readonly start: number; readonly end: number };
}
