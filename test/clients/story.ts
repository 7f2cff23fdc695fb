/** One turn of a conversation, in no client's own form. */
export interface StoryLine {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A client, as one holds a conversation with it. */
export interface Talker {
  readonly name: string;
  /** Says the last line, after those before it, and gives the answer's text. */
  say(lines: readonly StoryLine[], stream: boolean): Promise<string>;
  /** Asks with a tool "weather" of one parameter "city"; runs it, and gives what it was called with, and the answer. */
  ask(question: string, stream: boolean): Promise<{ city: string; text: string }>;
}

/** What the tool says. */
export const weatherIn = (city: string): string => `sunny in ${city}`;
export const QUESTION = "What are the productivity tools that I use?";

/** Holds the story over several conversations; each problem is a sentence. */
export async function story(talker: Talker, stream: boolean, sent: () => string): Promise<string[]> {
  const problems: string[] = [];
  const expect = (what: string, got: string, wanted: RegExp): void => {
    if (!wanted.test(got)) problems.push(`${what}: ${JSON.stringify(got)} is not ${wanted}`);
  };
  const alone = (content: string): Promise<string> => talker.say([{ role: "user", content }], stream);

  const told: StoryLine[] = [{ role: "user", content: "I use Shram and Magnet as productivity tools." }];
  told.push({ role: "assistant", content: await talker.say(told, stream) });
  told.push({ role: "user", content: "I live in Porto." });
  expect("the second turn", await talker.say(told, stream), /^All right\.$/);
  expect("asked in another conversation", await alone(QUESTION), /^You use Shram and Magnet\.$/);
  await alone("I don't use Magnet anymore.");
  expect("asked after the change", await alone(QUESTION), /^You use Shram\.$/);
  const asked = await talker.ask("What is the weather where I live?", stream);
  expect("the tool's argument", asked.city, /^Porto$/);
  expect("the answer after the tool", asked.text, /^The tool says: .*sunny in Porto/);
  await alone("Forget that I ever mentioned Magnet.");
  if (!/Forget that/.test(sent())) problems.push("the request to forget did not reach the model");
  expect("asked after the forgetting", await alone(QUESTION), /^You use Shram\.$/);
  if (sent().includes("Magnet"))
    problems.push("after the forgetting the model was still sent what was forgotten");
  return problems;
}
