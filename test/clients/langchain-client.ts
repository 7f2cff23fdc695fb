import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import * as z from "zod";
import { type Talker, weatherIn } from "./story.ts";

interface Asked {
  invoke(messages: BaseMessage[]): Promise<AIMessageChunk>;
  stream(messages: BaseMessage[]): Promise<AsyncIterable<AIMessageChunk>>;
}

/** LangChain's ChatOpenAI, through either interface. */
export function langchain(baseURL: string, apiKey: string, useResponsesApi: boolean): Talker {
  const model = new ChatOpenAI({ model: "gpt-4o-mini", apiKey, configuration: { baseURL }, useResponsesApi });
  const weather = tool(({ city }: { city: string }) => weatherIn(city), {
    name: "weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
  });
  const answer = async (asked: Asked, messages: BaseMessage[], stream: boolean): Promise<AIMessageChunk> => {
    if (!stream) return asked.invoke(messages);
    let whole: AIMessageChunk | undefined;
    for await (const part of await asked.stream(messages)) whole = whole ? whole.concat(part) : part;
    if (!whole) throw new Error("the stream was empty");
    return whole;
  };
  return {
    name: `LangChain (Node), ${useResponsesApi ? "responses" : "chat completions"}`,
    async say(lines, stream) {
      const messages = lines.map(({ role, content }) =>
        role === "user" ? new HumanMessage(content) : new AIMessage(content),
      );
      return (await answer(model as unknown as Asked, messages, stream)).text;
    },
    async ask(question, stream) {
      const withTool = model.bindTools([weather]) as unknown as Asked;
      const messages: BaseMessage[] = [new HumanMessage(question)];
      const asked = await answer(withTool, messages, stream);
      const call = asked.tool_calls?.[0];
      if (!call) return { city: "", text: "" };
      const city = String(call.args.city);
      const result = new ToolMessage({ tool_call_id: call.id ?? "", content: weatherIn(city) });
      return { city, text: (await answer(withTool, [...messages, asked, result], stream)).text };
    },
  };
}
