import { afterAll, describe, expect, it } from "vitest";
import {
  createImportFolder,
  memoriesOf,
  messagesOf,
  skippedOf,
  textsOf,
} from "./__fixtures__/import-files.ts";
import { htmlToText } from "./gemini.ts";

const { read, remove } = createImportFolder();
afterAll(remove);

describe("an export of ChatGPT", () => {
  const node = (id: string, parent: string | null, children: readonly string[], message: object | null) => ({
    id,
    parent,
    children,
    message: message && { id, ...message },
  });
  const text = (role: string, parts: readonly unknown[], more: object = {}) => ({
    author: { role },
    content: { content_type: "text", parts },
    recipient: "all",
    create_time: 1_700_000_100,
    ...more,
  });
  const conversation = {
    title: "Trip\u0000 to Porto",
    create_time: 1_700_000_000,
    conversation_id: "c1",
    current_node: "again",
    mapping: {
      root: node("root", null, ["hidden"], null),
      hidden: node("hidden", "root", ["about"], text("system", [""], { create_time: null })),
      about: node("about", "hidden", ["ask"], {
        author: { role: "user" },
        content: {
          content_type: "user_editable_context",
          user_profile: "I am a nurse.",
          user_instructions: "Keep it short.",
        },
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      ask: node("ask", "about", ["old", "tool-call"], text("user", ["I live in Porto."], { create_time: 0 })),
      old: node("old", "ask", [], text("assistant", ["A reply that was made again."])),
      "tool-call": node("tool-call", "ask", ["tool"], text("assistant", ["search()"], { recipient: "web" })),
      tool: node("tool", "tool-call", ["think"], text("tool", ["a page"])),
      think: node("think", "tool", ["again"], {
        author: { role: "assistant" },
        content: { content_type: "thoughts", thoughts: [] },
      }),
      again: node("again", "think", [], {
        ...text("assistant", [
          "Nice.",
          null,
          { content_type: "image_asset_pointer", asset_pointer: "file-service://x" },
          { content_type: "audio_transcription", text: "A lovely city." },
        ]),
        content: {
          content_type: "multimodal_text",
          parts: [
            "Nice.",
            null,
            { content_type: "image_asset_pointer", asset_pointer: "file-service://x" },
            { content_type: "audio_transcription", text: "A lovely city." },
          ],
        },
      }),
    },
  };

  it("gives the branch that is shown, with times, the title and the parts that are words", async () => {
    const entries = await read("chatgpt", [conversation]);
    const shared = { session: "chatgpt:c1", metadata: { title: "Trip to Porto" } };
    expect(messagesOf(entries)).toEqual([
      expect.objectContaining({ role: "user", content: "I am a nurse.\nKeep it short." }),
      {
        id: "chatgpt:c1:ask",
        role: "user",
        content: "I live in Porto.",
        at: "2023-11-14T22:13:20.000Z",
        ...shared,
      },
      {
        id: "chatgpt:c1:again",
        role: "assistant",
        content: "Nice.\nA lovely city.",
        at: "2023-11-14T22:15:00.000Z",
        ...shared,
      },
    ]);
    expect(skippedOf(entries)).toEqual([
      "a message on a branch that the conversation left",
      "a system message",
      "a call of a tool",
      "what a tool gave",
      "the assistant's thoughts",
    ]);
  });

  it("gives the branch of the newest leaf if none is current, and ends in a circle of parents", async () => {
    const { current_node: _current, ...open } = conversation;
    expect(textsOf(await read("chatgpt", [open])).at(-1)).toBe("Nice.\nA lovely city.");
    const circle = {
      a: node("a", "b", ["b"], text("user", ["One."])),
      b: node("b", "a", ["a"], text("user", ["Two."])),
    };
    expect(textsOf(await read("chatgpt", [{ mapping: circle, current_node: "b" }]))).toEqual([
      "One.",
      "Two.",
    ]);
  });

  it("gives the oldest conversation first, whatever their order, with letters of any length before them", async () => {
    const told = (id: string, words: string, time: number | null) => ({
      conversation_id: id,
      title: "Käse 鉄",
      create_time: time,
      mapping: { a: node("a", null, [], text("user", [words], { create_time: time })) },
      current_node: "a",
    });
    const content = [
      told("3", "Last.", null),
      told("2", "Then.", 1_700_000_200),
      told("1", "First.", 1_700_000_100),
    ];
    for (const mark of ["", "\ufeff"])
      expect(textsOf(await read("chatgpt", `${mark}${JSON.stringify(content)}`))).toEqual([
        "First.",
        "Then.",
        "Last.",
      ]);
  });

  it("passes over a conversation of another shape", async () => {
    const entries = await read("chatgpt", [conversation, { mapping: 1 }, "x"]);
    expect(skippedOf(entries).filter((one) => one === "a conversation without messages")).toHaveLength(2);
  });
});

describe("an export of Claude", () => {
  it("gives the text of both sides, and passes over thoughts, tools, attachments and empty messages", async () => {
    const entries = await read("claude", [
      {
        uuid: "c1",
        name: "",
        created_at: "2025-03-01T10:00:00.000000Z",
        chat_messages: [
          {
            uuid: "m1",
            sender: "human",
            text: "I use Shram.",
            content: [],
            created_at: "2025-03-01T10:00:01.5Z",
          },
          {
            uuid: "m2",
            sender: "assistant",
            text: "thinking… Noted.",
            content: [
              { type: "thinking", thinking: "hm" },
              { type: "tool_use", name: "web_search" },
              { type: "tool_result", content: [] },
              { type: "token_budget" },
              { type: "text", text: "Noted." },
            ],
          },
          {
            uuid: "m3",
            sender: "human",
            text: "",
            content: [],
            attachments: [{ extracted_content: "x" }],
            files: [{}],
          },
        ],
      },
    ]);
    expect(messagesOf(entries)).toEqual([
      {
        id: "claude:c1:m1",
        role: "user",
        content: "I use Shram.",
        at: "2025-03-01T10:00:01.500Z",
        session: "claude:c1",
      },
      expect.objectContaining({ id: "claude:c1:m2", role: "assistant", content: "Noted." }),
    ]);
    expect(skippedOf(entries)).toEqual([
      "the assistant's thoughts",
      "a call of a tool",
      "what a tool gave",
      "an attachment",
      "an attachment",
      "a message without words",
    ]);
  });

  it("gives each point of its memories, with heading and project, under the same id each time", async () => {
    const memory = {
      conversations_memory:
        "**Work**\n\nAna is a nurse.\n- She works nights.\n\n## Taste\n1. Tea, no sugar\n---",
      project_memories: { p1: "**Purpose**\nA garden shed.", p2: null },
      account_uuid: "a",
    };
    const memories = memoriesOf(await read("claude", [memory]));
    expect(memories.map(({ text, metadata }) => [text, metadata])).toEqual([
      ["Ana is a nurse.", { heading: "Work" }],
      ["She works nights.", { heading: "Work" }],
      ["Tea, no sugar", { heading: "Taste" }],
      ["A garden shed.", { heading: "Purpose", project: "p1" }],
    ]);
    expect(memories[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a/);
    expect(memoriesOf(await read("claude", [memory]))).toEqual(memories);
  });
});

describe("Takeout of Gemini", () => {
  const event = {
    header: "Gemini Apps",
    title: "Used Gemini Apps",
    products: ["Gemini Apps"],
    time: "2024-02-17T22:05:10.123Z",
  };

  it("gives question and reply of an event in each of its shapes", async () => {
    const entries = await read("gemini", [
      {
        ...event,
        titleUrl: "https://gemini.google.com/app/c/abc123",
        details: [
          { name: "Request", value: "I play chess." },
          { name: "Response", value: "Great." },
        ],
      },
      {
        ...event,
        userInteractions: [
          {
            userInteraction: {
              request: JSON.stringify([{ parts: [{ text: "I have a dog." }] }]),
              response: JSON.stringify([{ content: "What is its name?" }]),
            },
          },
        ],
      },
      {
        ...event,
        title: "Prompted I like tea and cake",
        safeHtmlItem: [{ html: "<p>Tea &amp; <b>cake</b></p><script>alert(1)</script>" }],
      },
      { ...event, title: "Used Gemini Apps" },
      { header: "Search", title: "Searched", time: event.time },
    ]);
    expect(messagesOf(entries).map(({ role, content, session }) => [role, content, session])).toEqual([
      ["user", "I play chess.", "gemini:abc123"],
      ["assistant", "Great.", "gemini:abc123"],
      ["user", "I have a dog.", undefined],
      ["assistant", "What is its name?", undefined],
      ["user", "I like tea and cake", undefined],
      ["assistant", "Tea & cake", undefined],
    ]);
    expect(skippedOf(entries)).toEqual(["an event without words", "an event of another product"]);
    expect(new Set(messagesOf(entries).map(({ id }) => id)).size).toBe(6);
  });

  it("gives the questions of an account in another language without the words before them", async () => {
    const reply = [{ html: "<p>Gut.</p>" }];
    const asked = ["Was ist ein Fagott?", "Ich wohne in Gent.", "Zeig mir Porto"].map((text, i) => ({
      ...event,
      time: `2024-02-17T22:05:1${i}.000Z`,
      title: `Eingegebener Prompt: ${text}`,
      safeHtmlItem: reply,
    }));
    const unanswered = { ...event, title: "Eingegebener Prompt: Danke" };
    const note = { ...event, title: "Gemini-Apps verwendet" };
    const entries = await read("gemini", [...asked, unanswered, note]);
    const questions = messagesOf(entries).filter(({ role }) => role === "user");
    expect(questions.map(({ content }) => content).toSorted()).toEqual([
      "Danke",
      "Ich wohne in Gent.",
      "Was ist ein Fagott?",
      "Zeig mir Porto",
    ]);
    expect(skippedOf(entries)).toEqual(["an event without words"]);
    const [alone] = messagesOf(await read("gemini", asked.slice(0, 1)));
    expect(alone?.content).toBe("Eingegebener Prompt: Was ist ein Fagott?");
  });

  it("gives a question that lacks the words which most others begin with, under the same id in a longer export", async () => {
    const ask = (title: string, second: number) => ({
      ...event,
      time: `2024-02-17T22:05:${10 + second}.000Z`,
      title,
      safeHtmlItem: [{ html: "<p>Gut.</p>" }],
    });
    const titles = Array.from({ length: 9 }, (_, i) => `Frage: Ich mag Nummer ${i}`);
    const all = [...titles, "Frage: Mein Hund heißt Bo"].map(ask);
    const questionsOf = async (events: readonly object[]) =>
      messagesOf(await read("gemini", events)).filter(({ role }) => role === "user");
    const questions = await questionsOf(all);
    expect(questions).toHaveLength(10);
    expect(questions.some(({ content }) => content === "Frage: Mein Hund heißt Bo")).toBe(true);
    const early = await questionsOf(all.slice(0, 2));
    expect(questions.map(({ id }) => id)).toEqual(expect.arrayContaining(early.map(({ id }) => id)));
  });

  it("has HTML that ends in a tag, a script or an entity read to its end", () => {
    for (const html of ["a<b", "a<script>x", "a&#99999999;", "<p>a</p", "a&nope;"])
      expect(htmlToText(html)).toMatch(/^a/);
  });
});
