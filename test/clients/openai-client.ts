import OpenAI from "openai";
import { type StoryLine, type Talker, weatherIn } from "./story.ts";

const MODEL = "gpt-4o-mini";
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** The official client, through chat completions. */
export function openaiChat(baseURL: string, apiKey: string): Talker {
  const client = new OpenAI({ baseURL, apiKey });
  type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
  const tools: OpenAI.Chat.ChatCompletionTool[] = [
    { type: "function", function: { name: "weather", parameters: PARAMETERS } },
  ];
  const answer = async (messages: Messages, stream: boolean, more: object = {}) => {
    if (!stream) {
      const whole = await client.chat.completions.create({ model: MODEL, messages, ...more });
      return whole.choices[0]?.message;
    }
    return client.chat.completions.stream({ model: MODEL, messages, ...more }).finalMessage();
  };
  return {
    name: "openai (Node), chat completions",
    say: async (lines: readonly StoryLine[], stream) => (await answer([...lines], stream))?.content ?? "",
    async ask(question, stream) {
      const messages: Messages = [{ role: "user", content: question }];
      const asked = await answer(messages, stream, { tools });
      const call = asked?.tool_calls?.[0];
      if (!asked || call?.type !== "function") return { city: "", text: "" };
      const { city } = JSON.parse(call.function.arguments) as { city: string };
      messages.push(asked, { role: "tool", tool_call_id: call.id, content: weatherIn(city) });
      return { city, text: (await answer(messages, stream, { tools }))?.content ?? "" };
    },
  };
}

/** The official client, through responses; within a conversation it goes on from the response before, which takes a key of its own. */
export function openaiResponses(baseURL: string, apiKey: string): Talker {
  const client = new OpenAI({
    baseURL,
    apiKey,
    defaultHeaders: { "x-keepsake-upstream-key": "sk-upstream" },
  });
  let before: { readonly id: string; readonly text: string } | undefined;
  const tools: OpenAI.Responses.FunctionTool[] = [
    { type: "function", name: "weather", parameters: PARAMETERS, strict: true },
  ];
  const answer = async (
    input: string | OpenAI.Responses.ResponseInput,
    stream: boolean,
    more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {},
  ): Promise<OpenAI.Responses.Response> => {
    if (!stream) return client.responses.create({ model: MODEL, input, ...more });
    return client.responses.stream({ model: MODEL, input, ...more } as never).finalResponse();
  };
  return {
    name: "openai (Node), responses",
    async say(lines, stream) {
      const isOn = before !== undefined && lines.at(-2)?.content === before.text;
      const more = isOn && before ? { previous_response_id: before.id } : {};
      const response = await answer(lines.at(-1)?.content ?? "", stream, more);
      before = { id: response.id, text: response.output_text };
      return response.output_text;
    },
    async ask(question, stream) {
      const asked = await answer(question, stream, { tools });
      const call = asked.output.find((item) => item.type === "function_call");
      if (call?.type !== "function_call") return { city: "", text: "" };
      const { city } = JSON.parse(call.arguments) as { city: string };
      const output = {
        type: "function_call_output" as const,
        call_id: call.call_id,
        output: weatherIn(city),
      };
      const more = { tools, previous_response_id: asked.id };
      return { city, text: (await answer([output], stream, more)).output_text };
    },
  };
}
