import { appendCapped, type ReplyReader, toArray, toFields, toText, toUsage, tryParseJson } from "./reply.ts";

/**
 * Reads the answer of `/v1/responses`. In a stream the last event holds the whole response; the parts before it count only
 * where the stream was cut.
 */
export function createResponsesReader(): ReplyReader {
  let response = toFields(undefined);
  let cut = "";

  const event = (data: string): void => {
    const { type, delta, response: held } = toFields(tryParseJson(data));
    if (type === "response.output_text.delta" || type === "response.refusal.delta")
      cut = appendCapped(cut, delta);
    else if (held !== undefined) response = toFields(held);
  };
  return {
    readEvent: event,
    readDocument(value) {
      response = toFields(value);
    },
    getReply() {
      const { id, model, status } = response;
      const items = toArray(response.output).map(toFields);
      const parts = items.flatMap(({ type, content }) => (type === "message" ? toArray(content) : []));
      const said = parts.map(toFields).map((part) => toText(part.text) || toText(part.refusal));
      const calls = items
        .filter(({ type }) => type === "function_call")
        .map((call) => ({
          id: toText(call.call_id),
          name: toText(call.name),
          arguments: toText(call.arguments),
        }));
      const usage = toUsage(response.usage, { in: "input_tokens", out: "output_tokens" });
      const text = said.join("");
      return {
        text: appendCapped("", text === "" ? cut : text),
        calls,
        isComplete: status === "completed" || status === "incomplete",
        ...(usage ? { usage } : {}),
        ...(typeof model === "string" ? { model } : {}),
        ...(typeof id === "string" ? { id } : {}),
        ...(parts.length > 0 && parts.every((part) => toFields(part).type === "refusal")
          ? { isRefusal: true }
          : {}),
      };
    },
  };
}
