import { describe, expect, it } from "vitest";
import type { Message } from "../../../../domain/message.ts";
import { splitSentences } from "../../../../domain/text/split-text.ts";
import { erasuresOf } from "./erasures.ts";

function read(content: string): ReturnType<typeof erasuresOf> {
  const at = "2026-05-20T09:00:00.000Z";
  const message: Message = {
    id: "m",
    turn: 0,
    role: "user",
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "pending",
  };
  return erasuresOf(message, splitSentences(content));
}

describe("what a request means", () => {
  it.each([
    "Forget everything I told you last night, I was drunk.",
    "please delete everything I said last night, it was nonsense",
    "Forget what I told you last night.",
  ])("“%s” is the evening before and no other night", (text) => {
    expect(read(text)).toMatchObject([{ from: "2026-05-19T16:00:00.000Z", to: "2026-05-20T06:00:00.000Z" }]);
    expect(read(text)[0]?.about).toBeUndefined();
  });

  it.each([
    ["We buried Rex on Monday. Please take him out of your memory, it hurts.", "Rex"],
    ["Acme Tools have dropped us, so delete everything you hold on them.", "Acme Tools"],
    ["Acme Tools are no customer any more. Erase everything you have on them.", "Acme Tools"],
  ])("“%s” means “%s”", (text, about) => {
    expect(read(text)).toMatchObject([{ about }]);
  });

  it("is not everything where “all of it” follows what it is about", () => {
    const [request] = read("Malta is over! Delete all of it apart from the ferry times.");
    expect(request).toMatchObject({ about: "Malta", except: "the ferry times" });
    expect(request?.everything).toBeUndefined();
  });

  it("is everything where “all of it” follows nothing", () => {
    expect(read("Delete all of it.")).toMatchObject([{ everything: true }]);
  });

  it("has an exception behind “bar”", () => {
    expect(read("please forget my recipes, bar the plum cake")).toMatchObject([
      { about: "my recipes", except: "the plum cake" },
    ]);
  });
});
