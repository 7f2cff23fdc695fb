import { expect, it } from "vitest";
import type { Message } from "../../../../domain/message.ts";
import { splitSentences } from "../../../../domain/text/split-text.ts";
import { erasuresOf } from "./erasures.ts";
import { findException } from "./exceptions.ts";

it.each([
  ["Forget everything about my knee, but keep the physio's number.", "the physio's number"],
  ["Forget everything about my knee except the physio's number", "the physio's number"],
  ["Delete my debts with the exception of the car loan.", "the car loan"],
  ["Forget my bank details but not the sort code.", "the sort code"],
  ["Delete the old code not the new one", "the new one"],
  ["Wipe my old address and phone, only keep the email.", "the email"],
  ["Forget all about my knee, the physio's number can stay.", "the physio's number"],
  ["Forget everything about Iker but his number", "his number"],
  ["Forget my address, don't delete the postcode though.", "the postcode"],
  ["Please erase my health stuff but leave my blood type in.", "my blood type"],
  ["Keep the physio's number but forget everything else about my knee.", "the physio's number"],
  ["Delete my address but keep the postcode and delete my phone number.", "the postcode"],
])("“%s” excepts %s", (sentence, kept) => {
  expect(findException(sentence)?.kept).toBe(kept);
});

it.each([
  "Forget Magnet, it's not the one I use.",
  "Forget that I'm not the best swimmer.",
  "Forget the hotel Ona stays in.",
  "Forget what I said, keep it to yourself",
  "Please keep calm and forget Magnet.",
  "Forget my salary, I only want to keep it private.",
  "Keep the guest code until May, then erase it.",
  "Forget what I said about my boss, but do it quietly.",
])("“%s” excepts nothing", (sentence) => {
  expect(findException(sentence)).toBeUndefined();
});

const read = (content: string) => {
  const at = "2026-11-01T12:00:00Z";
  const message = { id: "m", turn: 1, role: "user", origin: "user_message", storedAt: at, digest: "pending" };
  return erasuresOf({ ...message, content, at } as Message, splitSentences(content));
};

it.each([
  [
    "Forget everything about my knee except the physio's number",
    { about: "my knee", except: "the physio's number" },
  ],
  ["Forget everything about me except my name.", { everything: true, except: "my name" }],
  ["Keep my name but forget everything else.", { everything: true, except: "my name" }],
  [
    "Keep where I live. Keep my name. Forget everything else you know about me.",
    { everything: true, except: "where I live; my name" },
  ],
  ["Forget this conversation except the recipe.", { session: true, except: "the recipe" }],
  ["Forget what I said about Iker. Keep his number though.", { about: "Iker", except: "his number" }],
  [
    "Delete my PIN from your notes. The locker code is ok to keep.",
    { about: "my PIN", except: "The locker code" },
  ],
])("“%s” means all but the exception", (content, meant) => {
  expect(read(content)).toMatchObject([meant]);
});

it("is no exception if other words tell news to remember", () => {
  const [request] = read("Remember my sister lives in Bonn. Forget my old address.");
  expect(request).toMatchObject({ about: "my old address" });
  expect(request).not.toHaveProperty("except");
});

it("is no exception if other words say who holds what is to be erased", () => {
  const [request] = read("Ona withdrew her consent for us to hold the dose. Please delete it.");
  expect(request).toMatchObject({ propose: "erase" });
  expect(request).not.toHaveProperty("except");
});

it.each([
  ["Remove Ona's address from your notes, and Iker's number too.", "Ona's address, Iker's number"],
  ["Take Ona's salary out of the notes and Iker's number too please.", "Ona's salary, Iker's number"],
  ["Forget my bank details incl. the sort code.", "my bank details incl. the sort code"],
  ["Delete everything on the Halden deal incl. the price.", "everything on the Halden deal incl. the price"],
])("“%s” means %s", (content, about) => {
  expect(read(content)).toMatchObject([{ about }]);
});

it("takes a reason behind the place for no other thing to erase", () => {
  expect(read("Delete my PIN from memory and the new one is 4471")).toMatchObject([{ about: "my PIN" }]);
});
