import { describe, expect, it } from "vitest";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Proposal } from "../../ports/extractor.ts";
import { rulesExtractor, rulesQuestionReader } from "./index.ts";

const AT = "2026-03-10T12:00:00.000Z";
const extractor = rulesExtractor();
const reader = rulesQuestionReader();

function message(content: string, fields: Partial<Message> = {}): Message {
  return {
    id: "m",
    turn: 1,
    role: "user",
    content,
    origin: "user_message",
    at: AT,
    storedAt: AT,
    digest: "pending",
    ...fields,
  };
}

/** A memory as it would be held: "user | use | Miro". */
function known(line: string, id = line): Memory {
  const [subject = "", relation = "", value = ""] = line.split(" | ");
  return {
    id,
    version: 1,
    text: line,
    kind: "fact",
    claim: { subject, relation, value },
    status: "current",
    confidence: 0.9,
    importance: 0.5,
    evidence: 1,
    origin: "user_message",
    at: "2026-01-01T00:00:00.000Z",
    sources: [],
    revision: 1,
    storedAt: AT,
    action: "added",
  };
}

async function propose(
  content: string,
  held: readonly Memory[] = [],
  fields: Partial<Message> = {},
): Promise<Proposal[]> {
  return extractor.propose({ messages: [message(content, fields)], earlier: [], known: held });
}

/** Each new claim as "subject | relation | value". */
async function told(content: string, fields: Partial<Message> = {}): Promise<string[]> {
  const proposals = await propose(content, [], fields);
  return proposals.flatMap((one) =>
    one.propose === "add" && one.claim
      ? [`${one.claim.subject} | ${one.claim.relation} | ${one.claim.value}`]
      : [],
  );
}

describe("statements", () => {
  it.each([
    ["I use Notion, Linear and Jira.", ["user | use | Notion", "user | use | Linear", "user | use | Jira"]],
    ["i live in Malmö", ["user | live in | Malmö"]],
    ["I'm allergic to walnuts.", ["user | be allergic to | walnuts"]],
    ["My landlord is called Mr Abara.", ["user/landlord | be called | Mr Abara"]],
    ["our cat's called Pixel", ["user/cat | be called | Pixel"]],
    ["My brother plays the tuba.", ["user/brother | play | the tuba"]],
    ["I speak Finnish and Basque.", ["user | speak | Finnish", "user | speak | Basque"]],
    ["My pension is with Storkbank.", ["user/pension | be with | Storkbank"]],
    ["I love sushi.", ["user | love | sushi"]],
  ])("%s", async (content, claims) => {
    expect(await told(content)).toEqual(expect.arrayContaining(claims));
  });

  it("are about the one who speaks, where people talk among themselves", async () => {
    expect(await told("I live in Graz.", { name: "Joanna" })).toEqual(["Joanna | live in | Graz"]);
  });

  it("keep the place of their words", async () => {
    const content = "Nice weather. I use Shram, and my sister lives in Turin!";
    for (const { start, end } of await propose(content)) {
      expect(content.slice(start, end).trim()).not.toBe("");
      expect(start).toBeGreaterThanOrEqual("Nice weather.".length);
    }
    expect(await propose(content)).not.toEqual([]);
  });

  it("resolve dates against the time at which they were said", async () => {
    const [appointment] = await propose("My eye test is next Friday.");
    expect(appointment).toMatchObject({ propose: "add", when: "2026-03-20" });
    const [trip] = await propose("I went to a concert yesterday.");
    expect(trip).toMatchObject({ propose: "add", when: "2026-03-09" });
  });
});

describe("what is no memory", () => {
  it.each([
    "What should I cook tonight?",
    "hello!",
    "thanks, that's great",
    "haha ok",
    "If I lived in Rome I'd eat ice cream every day.",
    "Could you explain recursion?",
    "never mind",
    "my password is hunter22xyz!",
    "The capital of Peru is Lima.",
    "Ich wohne in Bremen und trinke gern Tee.",
    "我住在波尔图",
  ])("%s", async (content) => {
    expect((await propose(content)).filter(({ propose }) => propose === "add")).toEqual([]);
  });

  it.each(["assistant", "system", "tool"] as const)("the words of role %s", async (role) => {
    expect(await propose("You use Shram. I live in Porto.", [], { role })).toEqual([]);
  });
});

describe("changes", () => {
  it.each([
    ["I don't use Miro anymore.", "user | use | Miro"],
    ["I no longer use Miro", "user | use | Miro"],
    ["sold the Fuji yesterday", "user | own | a Fuji X100"],
    ["cancelled Mubi this morning", "user | be subscribed to | Mubi"],
    ["had to quit padel", "user | play | padel"],
  ])("%s ends %s", async (content, held) => {
    const proposals = await propose(content, [known(held), known("user | use | Trello")]);
    const ended = proposals.filter(({ propose }) => propose === "supersede");
    expect(ended).toMatchObject([{ target: { ids: [held] } }]);
  });

  it("a swap keeps the relation of what it replaces", async () => {
    const proposals = await propose("I've replaced coffee with matcha.", [known("user | drink | coffee")]);
    expect(proposals).toMatchObject([
      {
        propose: "add",
        claim: { relation: "drink", value: "matcha" },
        replaces: { ids: ["user | drink | coffee"] },
      },
    ]);
  });

  it("a new value of a one-value relation says that it holds one", async () => {
    const [moved] = await propose("We moved to Bergen.", [known("user | live in | Leeds")]);
    expect(moved).toMatchObject({
      propose: "add",
      holds: "one",
      claim: { relation: "live in", value: "Bergen" },
    });
  });
});

describe("requests to forget", () => {
  it.each([
    ["Forget that I ever mentioned Magnet.", /Magnet/],
    ["please forget what I told you about my salary", /salary/],
    ["Delete what you know about my ex.", /ex/],
    ["can you forget that I smoke?", /smoke/],
  ])("%s", async (content, about) => {
    const [request] = await propose(content);
    expect(request).toMatchObject({ propose: "erase", about: expect.stringMatching(about) });
  });

  it("of a message itself, and of everything", async () => {
    const [itself] = await propose("don't remember this, but my locker code is 4471");
    expect(itself?.propose).toBe("erase");
    expect(itself).not.toHaveProperty("about");
    expect(await propose("Forget everything you know about me.")).toMatchObject([
      { propose: "erase", everything: true },
    ]);
  });

  it.each([
    "I forget where I put my keys.",
    "Don't forget to call mum.",
    "forget it",
    "I'll never forget that day.",
  ])("are not: %s", async (content) => {
    expect((await propose(content)).filter(({ propose }) => propose === "erase")).toEqual([]);
  });
});

describe("questions", () => {
  it.each([
    ["Where do I live?", "user", "live in"],
    ["What's my cat's name?", "user/cat", "be called"],
    ["Where does my sister work?", "user/sister", "work at"],
    ["Which tools do I use?", "user", "use"],
  ])("%s asks of %s what it should %s", (question, subject, relation) => {
    const read = reader.read(question, { at: AT, known: [] });
    expect(read.subject).toBe(subject);
    expect(read.relations).toContain(relation);
  });

  it("are told from statements and requests", () => {
    expect(reader.isQuestion("where do i live")).toBe(true);
    expect(reader.isQuestion("What do I use?")).toBe(true);
    expect(reader.isQuestion("I use Shram.")).toBe(false);
    expect(reader.isQuestion("Forget my address.")).toBe(false);
  });
});

it("reads a long message in bounded time", async () => {
  const content = "I use Shram and my sister lives in Porto. ".repeat(3000);
  const begun = performance.now();
  await propose(content);
  expect(performance.now() - begun).toBeLessThan(5000);
});
