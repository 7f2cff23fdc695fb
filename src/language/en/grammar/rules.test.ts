import { describe, expect, it } from "vitest";
import { rulesExtractor, rulesQuestionReader } from "../../../adapters/rules/index.ts";
import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { Proposal } from "../../../ports/language/extractor.ts";
import { makeUserMessage, SAID_AT } from "../../../testing/test-doubles.ts";

const extractor = rulesExtractor();
const reader = rulesQuestionReader();

/** A memory as it would be held: "user | use | Padlet". */
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
    storedAt: SAID_AT,
    action: "added",
  };
}

async function propose(
  content: string,
  held: readonly Memory[] = [],
  fields: Partial<Message> = {},
): Promise<Proposal[]> {
  return extractor.propose({ messages: [makeUserMessage(content, fields)], earlier: [], known: held });
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

  it.each([
    ["hi, Dana here", ["user | be called | Dana"]],
    ["dentist in two weeks", ["user/dentist appointment | be on | two weeks"]],
    ["my phone number: 0770 900", ["user/phone number | be | 0770 900"]],
    [
      "my subscriptions: Calm and Cinema Club",
      ["user | be subscribed to | Calm", "user | be subscribed to | Cinema Club"],
    ],
    ["window seats only for me, thanks", ["user | prefer | window seats"]],
    ["I was born in 1987", ["user | be born on | 1987"]],
    ["I'm a paralegal at Dunmore & Finch", ["user | work at | Dunmore & Finch"]],
    ["We've got three kids: Ada, Bruno and Cleo", ["user/kid Ada | be called | Ada"]],
    [
      "My kids are Hugo (8) and Elsa (5)",
      ["user/kid Elsa | be called | Elsa", "user/kid Elsa | be aged | 5"],
    ],
    ["I do pilates, spin and yoga", ["user | do | pilates", "user | do | spin", "user | do | yoga"]],
    ["I have a unit in Kew and a garage in Acton", ["user | have | a unit", "user | have | a garage"]],
    ["my flatmate's vegan and I'm not", ["user/flatmate | be | vegan", "user | not be | vegan"]],
    ["i dont eat pork", ["user | not eat | pork"]],
    ["Femi owes me forty quid", ["Femi | owe | forty quid"]],
    ["I'm a mum of two", ["user | have | two kids"]],
    ["I'd rather walk than drive", ["user | prefer | to walk than drive"]],
    ["I told Nan I'd mow her lawn", ["user | promise | Nan I'd mow her lawn"]],
  ])("in short, in lists and between the lines: %s", async (content, claims) => {
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

describe("what hangs on the turn before", () => {
  async function after(
    before: Partial<Message>,
    content: string,
    held: readonly Memory[] = [],
  ): Promise<string[]> {
    const proposals = await extractor.propose({
      messages: [makeUserMessage(content)],
      earlier: [makeUserMessage("", { id: "before", ...before })],
      known: held,
    });
    return proposals.flatMap((one) =>
      one.propose === "add" && one.claim
        ? [`${one.claim.subject} | ${one.claim.relation} | ${one.claim.value}`]
        : [],
    );
  }

  it.each([
    ["Where do you live?", "Porto.", "user | live in | Porto"],
    ["Nice! What's your dog's name?", "Rex", "user/dog | be called | Rex"],
    ["How old are you?", "34", "user | be aged | 34"],
    ["What do you do for a living?", "nurse", "user | work as | a nurse"],
    ["Do you have any allergies?", "yes, peanuts", "user | be allergic to | peanuts"],
    ["Are you vegetarian?", "no", "user | not be | vegetarian"],
  ])("the answer to %s: %s", async (content, answer, claim) => {
    expect(await after({ role: "assistant", content }, answer)).toEqual([claim]);
  });

  it.each([
    ["And Magnet too.", "user | use | Magnet"],
    ["same for my wife", "user/wife | use | Shram"],
  ])("%s", async (content, claim) => {
    const held = {
      ...known("user | use | Shram"),
      sources: [{ message: "before", start: 0, end: 11, quote: "I use Shram" }],
    };
    expect(await after({ content: "I use Shram" }, content, [held])).toEqual([claim]);
  });
});

describe("of people among themselves only what tells of a life is kept", () => {
  it.each([
    "Thanks, Gina!",
    "I'm so curious how it all turns out!",
    "It's such an awesome experience.",
    "That's for sure.",
    "Here's a pic of my family at the beach.",
    "Playing video games helps me unwind.",
    "I'm always there to lend you a hand.",
    "The advice is creating a bit of a stir.",
  ])("%s", async (content) => {
    expect(await told(content, { name: "Joanna" })).toEqual([]);
  });

  it.each([
    ["I adopted a puppy last week.", "Joanna | adopt | a puppy"],
    ["My sister lives in Graz.", "Joanna/sister | live in | Graz"],
  ])("%s", async (content, claim) => {
    expect(await told(content, { name: "Joanna" })).toContain(claim);
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
    ["I don't use Padlet anymore.", "user | use | Padlet"],
    ["I no longer use Padlet", "user | use | Padlet"],
    ["sold the Canon yesterday", "user | own | a Canon X100"],
    ["cancelled Cinema Club this morning", "user | be subscribed to | Cinema Club"],
    ["had to quit padel", "user | play | padel"],
    ["no more meat for me", "user | eat | meat"],
    ["done with Carrefour, too pricey", "user | shop at | Carrefour"],
    ["packed in the banjo last week", "user | learn | the banjo"],
    ["I've knocked the spin class on the head", "user | go to | the spin class"],
    ["the doctor took me off ramipril", "user | take | ramipril"],
    ["let the pool pass run out", "user | have | a pool pass"],
    ["my mum and I don't talk anymore", "user | speak to | my mum"],
    ["I'm not allergic to peanuts after all", "user | be allergic to | peanuts"],
  ])("%s ends %s", async (content, held) => {
    const proposals = await propose(content, [known(held), known("user | use | Trello")]);
    const ended = proposals.filter(({ propose }) => propose === "supersede");
    expect(ended).toMatchObject([{ target: { ids: [held] } }]);
  });

  it.each([
    ["I'm a qualified electrician now", "user | be | a trainee electrician", "a qualified electrician"],
    ["they moved my desk to the fifth floor", "user/desk | be on | the second floor", "the fifth floor"],
    ["down to 76 kilos now!", "user | weigh | 80 kilos", "76 kilos"],
    ["I'm a size 10 now", "user | be | a size 12", "a size 10"],
    ["painted the kitchen mint green", "user/kitchen | be | brown", "mint green"],
    ["switched my major to philosophy", "user | study | physics", "philosophy"],
    ["sorry, typo, it's 214", "user/locker | be | 204", "214"],
    ["*Jean", "user/mum | be called | Jane", "Jean"],
  ])("%s takes the place of %s", async (content, held, value) => {
    const proposals = await propose(content, [known(held)]);
    const fresh = proposals.find((one) => one.propose === "add" && one.replaces?.ids?.includes(held));
    expect(fresh).toMatchObject({ claim: { value } });
  });

  it("a swap keeps the relation of what it replaces", async () => {
    const proposals = await propose("I've replaced juice with kefir.", [known("user | drink | juice")]);
    expect(proposals).toMatchObject([
      {
        propose: "add",
        claim: { relation: "drink", value: "kefir" },
        replaces: { ids: ["user | drink | juice"] },
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
    ["scrap what I told you about Tinder", /Tinder/],
    ["pretend I never told you about the cash", /cash/],
    ["don't store my politics please", /politics/],
  ])("%s", async (content, about) => {
    const [request] = await propose(content);
    expect(request).toMatchObject({ propose: "erase", about: expect.stringMatching(about) });
  });

  it("of the turn before name what it told", async () => {
    const held = {
      ...known("user | have | a record"),
      sources: [{ message: "before", start: 0, end: 15, quote: "I have a record" }],
    };
    const proposals = await extractor.propose({
      messages: [makeUserMessage("forget what I just said")],
      earlier: [makeUserMessage("I have a record", { id: "before" })],
      known: [held],
    });
    expect(proposals).toMatchObject([
      { propose: "erase", about: "a record" },
      { propose: "erase", about: "I have a record" },
    ]);
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
    const read = reader.read(question, { at: SAID_AT, known: [] });
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
  const begun = process.cpuUsage();
  await propose(content);
  // Processor time in µs: it does not depend on what else runs on the machine.
  expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000);
});
