import { capped, fieldsOf, listOf, parsed, type ReplyReader, textOf, usageOf } from "./reply.ts";

/**
 * Reads the answer of `/v1/responses`. In a stream the last event holds the whole response; the parts before it count only
 * where the stream was cut.
 */
export function responsesReply(): ReplyReader {
  let response = fieldsOf(undefined);
  let cut = "";

  const event = (data: string): void => {
    const { type, delta, response: held } = fieldsOf(parsed(data));
    if (type === "response.output_text.delta" || type === "response.refusal.delta") cut = capped(cut, delta);
    else if (held !== undefined) response = fieldsOf(held);
  };
  return {
    event,
    document(value) {
      response = fieldsOf(value);
    },
    reply() {
      const { id, model, status } = response;
      const items = listOf(response.output).map(fieldsOf);
      const parts = items.flatMap(({ type, content }) => (type === "message" ? listOf(content) : []));
      const said = parts.map(fieldsOf).map((part) => textOf(part.text) || textOf(part.refusal));
      const calls = items
        .filter(({ type }) => type === "function_call")
        .map((call) => ({
          id: textOf(call.call_id),
          name: textOf(call.name),
          arguments: textOf(call.arguments),
        }));
      const usage = usageOf(response.usage, { in: "input_tokens", out: "output_tokens" });
      const text = said.join("");
      return {
        text: capped("", text === "" ? cut : text),
        calls,
        isWhole: status === "completed" || status === "incomplete",
        ...(usage ? { usage } : {}),
        ...(typeof model === "string" ? { model } : {}),
        ...(typeof id === "string" ? { id } : {}),
        ...(parts.length > 0 && parts.every((part) => fieldsOf(part).type === "refusal")
          ? { isRefusal: true }
          : {}),
      };
    },
  };
}
