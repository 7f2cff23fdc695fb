import type { Cut } from "../../domain/cut.ts";
import { restsOn } from "../../domain/echo.ts";
import { eachInSlices } from "../in-slices.ts";
import type { UserState } from "../user-state.ts";
import type { Selection } from "./select.ts";

/** With the replies of a model that rest on what is chosen: they say it in other words, so that all of them goes. */
export async function withReplies(
  { messages }: Pick<UserState, "messages">,
  selection: Selection,
): Promise<Selection> {
  const gone = new Set([...selection.memories].map(({ id }) => id));
  const cuts = new Map<string, readonly Cut[]>(selection.cuts);
  const isGone = (id: string): boolean =>
    // A passage goes with its message.
    gone.has(id) || selection.cuts.has(id) || selection.cuts.has(id.replace(/#\d+$/, ""));
  await eachInSlices(messages.values(), (message) => {
    if (message.content !== "" && restsOn(message).some(isGone))
      cuts.set(message.id, [{ start: 0, end: message.content.length, put: "" }]);
  });
  return { ...selection, cuts };
}
