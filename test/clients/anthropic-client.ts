import Anthropic from "@anthropic-ai/sdk";
import { type StoryLine, type Talker, weatherIn } from "./story.ts";

const MODEL = "claude-haiku-4-5";
const TOOLS: Anthropic.ToolUnion[] = [
  {
    name: "weather",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];
const MARK = { type: "ephemeral" as const };

/** The official client, through messages, with breakpoints for the prompt cache as its programs set them. */
export function anthropicMessages(baseURL: string, apiKey: string): Talker {
  const client = new Anthropic({ baseURL, apiKey });
  const answer = async (
    messages: Anthropic.MessageParam[],
    stream: boolean,
    more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
  ): Promise<Anthropic.Message> => {
    const system = [{ type: "text" as const, text: "You are kind.", cache_control: MARK }];
    const asked = { model: MODEL, max_tokens: 200, system, messages, cache_control: MARK, ...more };
    if (!stream) return client.messages.create(asked);
    return client.messages.stream(asked).finalMessage();
  };
  return {
    name: "@anthropic-ai/sdk, messages",
    say: async (lines: readonly StoryLine[], stream) => textOf(await answer([...lines], stream)),
    async ask(question, stream) {
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: question }];
      const asked = await answer(messages, stream, { tools: TOOLS });
      const call = asked.content.find((block) => block.type === "tool_use");
      if (call?.type !== "tool_use") return { city: "", text: "" };
      const { city } = call.input as { city: string };
      const result = { type: "tool_result" as const, tool_use_id: call.id, content: weatherIn(city) };
      messages.push({ role: "assistant", content: asked.content }, { role: "user", content: [result] });
      return { city, text: textOf(await answer(messages, stream, { tools: TOOLS })) };
    },
  };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
