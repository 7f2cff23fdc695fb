/** A message as LangChain stores it. */
export interface StoredChatMessage {
  readonly type: string;
  readonly data: { readonly [field: string]: unknown };
}

/**
 * Leaves out calls of tools without a result, and results without a call: an erasure may have taken the other one, and models
 * refuse a conversation with half of a pair. Calls after which nothing was said stay, as their results may follow.
 */
export function withoutHalfPairs(messages: readonly StoredChatMessage[]): StoredChatMessage[] {
  const results = new Set(messages.flatMap(({ type, data }) => (type === "tool" ? data.tool_call_id : [])));
  const calls = new Set<unknown>();
  const newest = messages.findLastIndex(({ type }) => type !== "tool");
  return messages.flatMap((message, i) => {
    const { type, data } = message;
    if (type === "tool") return calls.has(data.tool_call_id) ? message : [];
    if (type !== "ai") return message;
    const ids = readCallIds(data.tool_calls);
    const isKept = (id: unknown): boolean => i === newest || results.has(id);
    for (const id of ids) if (isKept(id)) calls.add(id);
    return ids.every(isKept) ? message : (withoutCalls(message, isKept) ?? []);
  });
}

/** A message without some of its calls; undefined if nothing is left of it. */
function withoutCalls(
  { type, data }: StoredChatMessage,
  isKept: (id: unknown) => boolean,
): StoredChatMessage | undefined {
  const keep = (list: unknown): unknown =>
    Array.isArray(list) ? list.filter((one) => !isCall(one) || isKept(one.id)) : list;
  const kwargs = data.additional_kwargs as { readonly tool_calls?: unknown } | undefined;
  const rest = {
    ...data,
    tool_calls: keep(data.tool_calls),
    content: Array.isArray(data.content)
      ? data.content.filter((one) => one?.type !== "tool_use" || isKept(one.id))
      : data.content,
    ...(kwargs?.tool_calls === undefined
      ? {}
      : { additional_kwargs: { ...kwargs, tool_calls: keep(kwargs.tool_calls) } }),
  };
  const isEmpty = rest.content === "" || (Array.isArray(rest.content) && rest.content.length === 0);
  return isEmpty && readCallIds(rest.tool_calls).length === 0 ? undefined : { type, data: rest };
}

function readCallIds(calls: unknown): unknown[] {
  return Array.isArray(calls) ? calls.flatMap((one) => (isCall(one) ? one.id : [])) : [];
}

function isCall(value: unknown): value is { readonly id: unknown } {
  return typeof value === "object" && value !== null && "id" in value;
}
