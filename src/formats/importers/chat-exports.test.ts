import { afterAll, describe, expect, it } from "vitest";
import { createImportFolder, messagesOf, skippedOf } from "./__fixtures__/import-files.ts";

const { read, remove } = createImportFolder();
afterAll(remove);

describe("an export of Telegram", () => {
  const said = (id: number, from: string, text: unknown, more: object = {}) => ({
    id,
    type: "message",
    date: "2024-05-01T10:00:00",
    date_unixtime: "1714557600",
    from,
    from_id: `user${from === "Ana" ? 1 : 2}`,
    text,
    ...more,
  });
  const chat = {
    name: "Bo",
    type: "personal_chat",
    id: 77,
    messages: [
      said(1, "Ana", ["I like ", { type: "bold", text: "tea" }, "."]),
      said(2, "Bo", "I like coffee."),
      said(3, "Bo", "Read this.", { forwarded_from: "Somebody" }),
      said(4, "Bo", ""),
      { id: 5, type: "service", action: "phone_call", text: "" },
    ],
  };

  it("of one chat names each speaker", async () => {
    const entries = await read("telegram", chat);
    expect(messagesOf(entries)).toEqual([
      {
        id: "telegram:77:1",
        role: "user",
        name: "Ana",
        content: "I like tea.",
        at: "2024-05-01T10:00:00.000Z",
        session: "telegram:77",
        metadata: { title: "Bo" },
      },
      expect.objectContaining({ name: "Bo", content: "I like coffee." }),
    ]);
    expect(skippedOf(entries)).toEqual([
      "a forwarded message",
      "a message without words",
      "a notice of the chat",
    ]);
  });

  it("of an account takes the owner's messages as the user's own", async () => {
    const saved = { type: "saved_messages", id: 1, messages: [said(9, "Ana", "I need milk.")] };
    const entries = await read("telegram", {
      about: "x",
      personal_information: { user_id: 1, first_name: "Ana" },
      contacts: { list: [{ name: "no chat", type: "none", id: 5 }] },
      chats: { about: "y", list: [chat, saved] },
    });
    const said1 = messagesOf(entries).map(({ id, name, content }) => [id, name, content]);
    expect(said1).toEqual([
      ["telegram:77:1", undefined, "I like tea."],
      ["telegram:77:2", "Bo", "I like coffee."],
      ["telegram:1:9", undefined, "I need milk."],
    ]);
  });

  it("gives Saved Messages no title, whatever chat stands before them", async () => {
    const saved = { type: "saved_messages", id: 1, messages: [said(9, "Ana", "I need milk.")] };
    const empty = { name: "Cy", type: "personal_chat", id: 78, messages: [] };
    const group = { name: "Band", type: "private_group", id: 79, messages: [said(3, "Bo", "Hi.")] };
    const entries = await read("telegram", { chats: { list: [chat, empty, saved, group] } });
    const titles = messagesOf(entries).map(({ session, name, metadata }) => [session, name, metadata?.title]);
    expect(titles).toEqual([
      ["telegram:77", "Ana", "Bo"],
      ["telegram:77", "Bo", "Bo"],
      ["telegram:1", undefined, undefined],
      ["telegram:79", "Bo", "Band"],
    ]);
  });
});

describe("a chat of WhatsApp", () => {
  const said = async (lines: readonly string[]) =>
    messagesOf(await read("whatsapp", lines.join("\n"))).map(({ at, name, content }) => [at, name, content]);

  it("is read in each order of the date, with 12 and 24 hours, brackets and marks of direction", async () => {
    const cases: readonly (readonly [string, string])[] = [
      ["21.12.2019, 14:00 - Ana: Hi", "2019-12-21T14:00:00.000Z"],
      ["12/31/23, 2:05 PM - Ana: Hi", "2023-12-31T14:05:00.000Z"],
      ["\u200e[31/12/2023, 14:05:07] Ana: Hi", "2023-12-31T14:05:07.000Z"],
      ["[12/31/23, 12:05:07\u202fAM] Ana: Hi", "2023-12-31T00:05:07.000Z"],
      ["2023-12-31, 14:05 - Ana: Hi", "2023-12-31T14:05:00.000Z"],
      ["[12.3.2022 klo 14.08.18] Ana: Hi", "2022-03-12T14:08:18.000Z"],
      ["01/02/2024, 9:05 p. m. - Ana: Hi", "2024-02-01T21:05:00.000Z"],
    ];
    for (const [line, at] of cases) expect(await said([line])).toEqual([[at, "Ana", "Hi"]]);
  });

  it("takes day and month in the order in which times rise, if no number tells", async () => {
    const monthFirst = ["1/2/24, 10:00 - Ana: a", "1/3/24, 10:00 - Ana: b", "2/1/24, 10:00 - Ana: c"];
    expect((await said(monthFirst)).map(([at]) => at?.toString().slice(0, 10))).toEqual([
      "2024-01-02",
      "2024-01-03",
      "2024-02-01",
    ]);
    const dayFirst = ["1/2/24, 10:00 - Ana: a", "2/2/24, 10:00 - Ana: b", "1/3/24, 10:00 - Ana: c"];
    expect((await said(dayFirst)).map(([at]) => at?.toString().slice(0, 10))).toEqual([
      "2024-02-01",
      "2024-02-02",
      "2024-03-01",
    ]);
  });

  it("joins lines, tells repeated messages apart, and passes over notices and media", async () => {
    const entries = await read(
      "whatsapp",
      [
        "21.12.2019, 13:59 - Messages and calls are end-to-end encrypted.",
        "21.12.2019, 14:00 - Ana: First",
        "second line: more",
        "21.12.2019, 14:01 - Bo: <Media omitted>",
        "21.12.2019, 14:02 - Bo: ok",
        "21.12.2019, 14:02 - Bo: ok",
        "21.12.2019, 14:03 - +49 170 1234567: A number: 5",
      ].join("\r\n"),
    );
    expect(messagesOf(entries).map(({ name, content }) => [name, content])).toEqual([
      ["Ana", "First\nsecond line: more"],
      ["Bo", "ok"],
      ["Bo", "ok"],
      ["+49 170 1234567", "A number: 5"],
    ]);
    expect(new Set(messagesOf(entries).map(({ id }) => id)).size).toBe(4);
    expect(skippedOf(entries)).toEqual(["a notice of the chat", "a picture, a recording or a file"]);
  });

  it("gives edited messages without the mark of it, and passes over what was deleted", async () => {
    const entries = await read(
      "whatsapp",
      [
        "21.12.2019, 14:00 - Ana: I live in Porto. <This message was edited>",
        "21.12.2019, 14:01 - Ana: You deleted this message",
        "21.12.2019, 14:02 - Bo: This message was deleted.",
        "21.12.2019, 14:03 - Bo: You deleted this message of mine",
      ].join("\n"),
    );
    expect(messagesOf(entries).map(({ content }) => content)).toEqual([
      "I live in Porto.",
      "You deleted this message of mine",
    ]);
    expect(skippedOf(entries)).toEqual(["a message that was deleted", "a message that was deleted"]);
  });

  it("is a session of its own, which a longer export of the same chat has again", async () => {
    const sessionsOf = async (lines: readonly string[]) => [
      ...new Set(messagesOf(await read("whatsapp", lines.join("\n"))).map(({ session }) => session)),
    ];
    const one = ["21.12.2019, 13:59 - You created the group.", "21.12.2019, 14:00 - Ana: Hi"];
    const [first, ...others] = await sessionsOf(one);
    expect(first).toMatch(/^whatsapp:/);
    expect(others).toEqual([]);
    expect(await sessionsOf([...one, "22.12.2019, 14:00 - Ana: Hi again"])).toEqual([first]);
    expect(await sessionsOf(["21.12.2019, 15:00 - Ana: Hi"])).not.toEqual([first]);
  });
});
