import { type ErasureSelection, NO_SELECTION } from "../../domain/erasure-selection.ts";
import type { AskedContent, PendingConfirmation } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { cutText, GAP_MARK, type TextCut } from "../../domain/text/cut-text.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { toPreview } from "./requests.ts";

/** What a request may mean beside the selection that is erased, where it will be after that. */
export function toAskedContent(
  { messages }: Pick<UserState, "messages">,
  request: string | undefined,
  selection: ErasureSelection,
  unsure: ErasureSelection,
): AskedContent | undefined {
  if (request === undefined) return undefined;
  const left = [...unsure.cuts].flatMap(([id, cuts]) => {
    const content = messages.get(id)?.content;
    if (content === undefined) return [];
    const { text, place } = cutText(content, selection.cuts.get(id) ?? []);
    const placed = cuts
      .map(({ start, end, put }): TextCut => ({ start: place(start), end: place(end), put }))
      .filter(({ start, end }) => holdsWords(text.slice(start, end)));
    return placed.length === 0 ? [] : [{ id, length: text.length, cuts: placed }];
  });
  const memories = [...unsure.memories]
    .filter((memory) => !selection.memories.has(memory))
    .map(({ id }) => id);
  if (left.length + memories.length === 0) return undefined;
  return { request, memories, messages: left };
}

function holdsWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replaceAll(GAP_MARK, ""));
}

/** The question to the user, with the words as they are now. */
export function toQuestion(state: UserState, asked: AskedContent): PendingConfirmation {
  return { action: "erase", ...toPreview(state, placeAsked(state, asked)) };
}

/** Whether a request was carried out in part, and the user was asked about the rest. */
export async function wasAskedAbout(
  ports: Pick<Ports, "store">,
  scope: Scope,
  request: string,
): Promise<boolean> {
  return (await findAsked(ports, scope, request)) !== undefined;
}

/** What the user was asked about after a request was carried out in part. Empty if it has been answered, or has changed since. */
export async function selectAsked(
  ports: Pick<Ports, "store" | "forgetRequests">,
  state: UserState,
  request: string,
): Promise<ErasureSelection> {
  const asked = await findAsked(ports, state.scope, request);
  if (!asked) return NO_SELECTION;
  const selection = placeAsked(state, asked);
  const values = [...selection.cuts].flatMap(([id, cuts]) => {
    const content = state.messages.get(id)?.content ?? "";
    return cuts.flatMap(({ start, end }) => ports.forgetRequests.findValues(content.slice(start, end)));
  });
  return { ...selection, values };
}

/** How many of the user's last changes are searched for the erasure that asked. */
const MAX_CHANGES = 20;

/** Positions hold until the next erasure, so only the newest one counts. */
async function findAsked(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  request: string,
): Promise<AskedContent | undefined> {
  // Most turns that say yes answer something else. Traces may be long.
  const changes = await store.log(scope, { limit: MAX_CHANGES });
  if (!changes.some(({ cause }) => cause === "forget")) return undefined;
  const asked = (await store.erasures.traces(scope)).at(-1)?.asked;
  return asked?.request === request ? asked : undefined;
}

function placeAsked({ memories, messages }: UserState, asked: AskedContent): ErasureSelection {
  return {
    memories: new Set(asked.memories.flatMap((id) => memories.get(id) ?? [])),
    cuts: new Map(
      asked.messages.flatMap(({ id, length, cuts }) =>
        messages.get(id)?.content.length === length ? [[id, cuts] as const] : [],
      ),
    ),
  };
}
