import type { TextCut } from "../../domain/cut.ts";
import { getCitedIds } from "../../domain/echo.ts";
import { forEachInSlices } from "../in-slices.ts";
import type { UserState } from "../user-state.ts";
import type { ErasureSelection } from "./select.ts";

/** With the replies of a model that rest on what is chosen: they say it in other words, so that all of them goes. */
export async function addReplies(
  { messages }: Pick<UserState, "messages">,
  selection: ErasureSelection,
): Promise<ErasureSelection> {
  const gone = new Set([...selection.memories].map(({ id }) => id));
  const cuts = new Map<string, readonly TextCut[]>(selection.cuts);
  const isGone = (id: string): boolean =>
    // A passage goes with its message.
    gone.has(id) || selection.cuts.has(id) || selection.cuts.has(id.replace(/#\d+$/, ""));
  await forEachInSlices(messages.values(), (message) => {
    if (message.content !== "" && getCitedIds(message).some(isGone))
      cuts.set(message.id, [{ start: 0, end: message.content.length, put: "" }]);
  });
  return { ...selection, cuts };
}
