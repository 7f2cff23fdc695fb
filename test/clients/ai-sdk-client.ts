import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import * as z from "zod";
import { type Talker, weatherIn } from "./story.ts";

/** The AI SDK with its provider for OpenAI, through either interface. */
export function aiSdk(baseURL: string, apiKey: string, api: "chat" | "responses"): Talker {
  const model = createOpenAI({ baseURL, apiKey })[api]("gpt-4o-mini");
  const answer = async (messages: ModelMessage[], stream: boolean, more: object = {}) => {
    const asked = { model, messages, ...more };
    if (!stream) {
      const { text, steps } = await generateText(asked);
      return { text, steps };
    }
    const streamed = streamText(asked);
    let text = "";
    for await (const part of streamed.textStream) text += part;
    return { text, steps: await streamed.steps };
  };
  return {
    name: `AI SDK, ${api === "chat" ? "chat completions" : "responses"}`,
    say: async (lines, stream) => (await answer([...lines], stream)).text,
    async ask(question, stream) {
      const cities: string[] = [];
      const weather = tool({
        description: "The weather in a city",
        inputSchema: z.object({ city: z.string() }),
        async execute({ city }) {
          cities.push(city);
          return weatherIn(city);
        },
      });
      const more = { tools: { weather }, stopWhen: stepCountIs(3) };
      const { text } = await answer([{ role: "user", content: question }], stream, more);
      return { city: cities[0] ?? "", text };
    },
  };
}

/** Holds three turns with the provider's own settings, which name earlier replies by their ids; each problem is a sentence. */
export async function aiSdkReferences(
  baseURL: string,
  apiKey: string,
  sent: () => string,
): Promise<readonly string[]> {
  const model = createOpenAI({ baseURL, apiKey })("gpt-4o-mini");
  const problems: string[] = [];
  const messages: ModelMessage[] = [];
  const words = ["My boat is called Zorbimax.", "My bike is called Quillon.", "What did I say?"];
  for (const content of words) {
    messages.push({ role: "user", content });
    const { text, response } = await generateText({ model, messages });
    if (text !== "All right.")
      problems.push(`the reply to ${JSON.stringify(content)} is ${JSON.stringify(text)}`);
    messages.push(...response.messages);
  }
  if (!/Zorbimax[\s\S]*All right\.[\s\S]*Quillon[\s\S]*All right\.[\s\S]*What did I say/.test(sent()))
    problems.push("the earlier turns were not sent");
  if (!JSON.stringify(messages).includes("itemId")) problems.push("the client knows no ids of items");
  return problems;
}
