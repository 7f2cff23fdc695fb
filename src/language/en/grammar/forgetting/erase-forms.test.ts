import { describe, expect, it } from "vitest";
import { rulesExtractor } from "../rules.ts";

/** What a message asks to erase. */
async function asked(content: string): Promise<unknown[]> {
  const at = "2026-05-20T15:00:00.000Z";
  const message = {
    id: "m",
    turn: 0,
    role: "user",
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "pending",
  } as const;
  const proposals = await rulesExtractor().propose({ messages: [message], earlier: [], known: [] });
  return proposals.flatMap((one) => (one.propose === "erase" ? [one.about ?? one.topic ?? true] : []));
}

describe("orders about what is remembered", () => {
  it.each<[string, unknown[]]>([
    ["Delete my phone number.", ["my phone number"]],
    ["Erase the old door code.", ["the old door code"]],
    ["Wipe my credit card number from your memory.", ["my credit card number"]],
    ["Could you please forget the name of my ex?", ["the name of my ex"]],
    ["Please don't keep my salary on file.", ["my salary"]],
    ["I'd like my health data deleted.", ["health"]],
    ["Delete from memory the earlier gate PIN 5512.", ["the earlier gate PIN 5512"]],
    ["No. Delete the old closet PIN 9154.", ["the old closet PIN 9154"]],
    ["Now that it is over, please delete the note about the surprise.", ["the note about the surprise"]],
    ["Privacy request: erase the old hotline number from the chart.", ["the old hotline number"]],
    ["The door code 9931 must not be kept in memory.", ["The door code 9931"]],
    ["I want the venue hold code deleted from memory.", ["the venue hold code"]],
    ["I am deleting the old cooler PIN 7318.", ["the old cooler PIN 7318"]],
    ["Do not retain the badge code 4158 in future answers.", ["the badge code 4158"]],
  ])("%s", async (said, meant) => {
    expect(await asked(said)).toEqual(meant);
  });
});

describe("orders about the world, and what is no order", () => {
  it.each([
    "Remove the desk from my room.",
    "Can you remove the background from this photo?",
    "Delete the third paragraph.",
    "I need to delete my Facebook account.",
    "Drop me a note when you are there.",
    "Clear my schedule for Friday.",
    "Please delete this line of code.",
    "How can I delete a git branch?",
    "I want the kitchen cleared by noon.",
    "She wants her records erased.",
    "The old shed must be removed.",
    "My PIN should be easy to remember.",
    "I'm deleting my old emails today.",
    "I am removing the wallpaper.",
    "Get rid of the old sofa.",
    "Note: remove the cake from the oven at six.",
    "Summary: drop the car at the garage, pick up the keys.",
    "The password must not be shared.",
    "Could you delete the duplicates in this list?",
    "Please remove Ola from the rota after this weekend.",
  ])("%s", async (said) => {
    expect(await asked(said)).toEqual([]);
  });
});
