import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

interface Case {
  /** Turns in order: the assistant's begin with "a:", those of somebody with a name with "Name:". */
  readonly said: readonly string[];
  /** The request, said by the user. */
  readonly asks: string;
  /** Turns after it. */
  readonly after?: readonly string[];
  readonly gone: readonly string[];
  readonly kept: readonly string[];
}

async function tell(memory: ScopedMemory, turns: readonly string[], from: number): Promise<void> {
  for (const [i, turn] of turns.entries()) {
    const [, name, text] = /^([A-Z]\w+|a): ([\s\S]+)$/.exec(turn) ?? [];
    const at = new Date(Date.UTC(2026, 2, 1, 9, from + i));
    await memory.remember({
      role: name === "a" ? "assistant" : "user",
      content: text ?? turn,
      at,
      ...(name && name !== "a" ? { name } : {}),
    });
  }
}

async function everything(memory: ScopedMemory): Promise<string> {
  const lines: string[] = [];
  for await (const line of memory.export()) lines.push(JSON.stringify(line));
  for await (const { id } of memory.list({ status: "all" }))
    lines.push(JSON.stringify(await memory.history(id)));
  return lines.join("\n");
}

/** What is wrong after a request: words that are still there, words that are gone with them. */
async function faultsOf({ said, asks, after = [], gone, kept }: Case): Promise<string[]> {
  let minute = 0;
  const clock = (): Date => new Date(Date.UTC(2026, 2, 1, 9, minute));
  const keepsake = await createMemory({ record: createInMemoryStore(), clock });
  const memory = keepsake.scope({ user: "home" });
  for (const turn of [...said, asks, ...after]) {
    await tell(memory, [turn], minute);
    minute += 1;
  }
  // Without ids: four of their digits can be a value by chance.
  const stored = (await everything(memory)).replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "");
  await keepsake.close();
  const within = (words: string): boolean =>
    new RegExp(
      `(?<![\\p{L}\\p{N}])${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
      "iu",
    ).test(stored);
  return [
    ...gone.filter(within).map((words) => `still there: ${words}`),
    ...kept.filter((words) => !within(words)).map((words) => `gone with it: ${words}`),
  ];
}

const VALUES: readonly (readonly [string, Case])[] = [
  [
    "one item of a list, not the others",
    {
      said: ["Bakers we could ask: Crumb & Co, Ovenbird, Daily Loaf."],
      asks: "Forget Ovenbird.",
      gone: ["Ovenbird"],
      kept: ["Crumb & Co", "Daily Loaf"],
    },
  ],
  [
    "who bears a name, not the flower that is called so",
    {
      said: ["Heather from the bank rang about the loan.", "The heather in the yard wants cutting in March."],
      asks: "Forget everything about Heather.",
      gone: ["rang about the loan"],
      kept: ["wants cutting in March"],
    },
  ],
  [
    "what one of several people said, not what another said of the same",
    {
      said: ["Tim: The apprentice is slow.", "Ana: The apprentice asks good questions."],
      asks: "Tim: Please strike what I said about the apprentice from memory.",
      gone: ["slow"],
      kept: ["asks good questions"],
    },
  ],
  [
    "what the sentence before says that the memory holds",
    {
      said: ["The safe of my uncle opens with 5518.", "My uncle keeps bees."],
      asks: "You do not need to have the safe code of my uncle. Delete it.",
      gone: ["5518"],
      kept: ["keeps bees"],
    },
  ],
  [
    "a code by its name, and the assistant's echo of it",
    {
      said: [
        "The alarm code is 4471.",
        "a: Noted, the alarm code is 4471.",
        "The recycling goes out on Mondays.",
      ],
      asks: "Please delete the alarm code from memory.",
      gone: ["4471"],
      kept: ["recycling goes out on Mondays"],
    },
  ],
  [
    "the earlier of two values, not the current one",
    {
      said: [
        "Badge PIN for the lab is 2210.",
        "The new badge PIN for the lab is 8854, it replaces the first one.",
      ],
      asks: "Delete the earlier lab badge PIN from memory.",
      gone: ["2210"],
      kept: ["8854"],
    },
  ],
  [
    "a value that a second sentence of the request names",
    {
      said: [
        "Locker combination for Theo: 17-32-05.",
        "Theo's locker combination changed, it is 22-08-31 now.",
        "a: Updated from 17-32-05 to 22-08-31.",
      ],
      asks: "Remove the former locker combination from your records. 17-32-05 should be treated as deleted.",
      gone: ["17-32-05"],
      kept: ["22-08-31"],
    },
  ],
  [
    "words behind the noun that they belong to",
    {
      said: [
        "The pickup word at the nursery is purple walrus.",
        "a: Pickup word noted: purple walrus.",
        "We saw a walrus at the zoo in purple light.",
      ],
      asks: "Erase the old pickup word purple walrus from shared memory.",
      gone: ["purple walrus"],
      kept: ["saw a walrus at the zoo"],
    },
  ],
  [
    "a list of values",
    {
      said: [
        "Tom: For this week call me on 020 7946 0991.",
        "Tom: I'm at Larch Court flat 9, door code 6620.",
        "a: Recap for Tom: 020 7946 0991, Larch Court flat 9, door code 6620, parking bay 14.",
      ],
      asks: "Tom: Delete 020 7946 0991, Larch Court flat 9, and door code 6620.",
      gone: ["020 7946 0991", "0991", "Larch Court flat 9", "6620"],
      kept: ["parking bay 14"],
    },
  ],
  [
    "a number by whose it is, and a note by what it is about",
    {
      said: [
        "Iris: Until Friday use the Harbour Inn desk, 303-555-0117. Ask for Mr. Pell after nine.",
        "a: Saved: Harbour Inn desk 303-555-0117; ask for Mr. Pell after nine. Her own number stays 303-555-0160.",
      ],
      asks: "Iris: Please delete the old Harbour Inn desk number and the note about asking for Mr. Pell after nine.",
      gone: ["303-555-0117", "Pell"],
      kept: ["303-555-0160"],
    },
  ],
  [
    "an address and no longer one that begins or ends like it",
    {
      said: [
        "jo@pine.io asked for a refund.",
        "jo.marsh@pine.io wants the catalogue.",
        "jo@pine.io.nz is on the waiting list.",
      ],
      asks: "Delete jo@pine.io from memory.",
      gone: ["asked for a refund"],
      kept: ["jo.marsh@pine.io", "jo@pine.io.nz"],
    },
  ],
  [
    "a number and no longer one that begins like it",
    {
      said: ["INV-77 is paid.", "INV-770 is open.", "INV-7 was cancelled."],
      asks: "Purge INV-77 from memory.",
      gone: ["INV-77", "is paid"],
      kept: ["INV-770 is open", "INV-7 was cancelled"],
    },
  ],
  [
    "a name in all its spellings",
    {
      said: [
        "NORTH-STAR owes us two invoices.",
        "The invoices of North Star are late.",
        "north_star is the folder for it.",
        "A star fell in the north.",
      ],
      asks: "Forget the client NORTH-STAR.",
      gone: ["NORTH-STAR", "North Star", "north_star"],
      kept: ["star fell in the north"],
    },
  ],
  [
    "what the text itself says a thing is also called",
    {
      said: [
        "Project Heron ships in May.",
        "Internally, Project Heron is also known as Bluebill.",
        "Bluebill has a budget of 40k.",
        "Project Egret ships in June.",
      ],
      asks: "Forget everything about Project Heron.",
      gone: ["Heron", "Bluebill", "40k"],
      kept: ["Project Egret ships in June"],
    },
  ],
  [
    "a person, not the word",
    {
      said: [
        "Mark is our plumber. He charges 60 an hour.",
        "Mark likes his coffee black.",
        "Please mark the boxes with a pen.",
      ],
      asks: "Forget everything about Mark the plumber.",
      gone: ["plumber", "coffee black"],
      kept: ["mark the boxes"],
    },
  ],
  [
    "the one of two people who share a value",
    {
      said: ["Lena's room is 12B.", "Otto's room is 12B."],
      asks: "Forget Lena's room.",
      gone: ["Lena's room is 12B"],
      kept: ["Otto's room is 12B"],
    },
  ],
  [
    "a place, by what stands there",
    {
      said: [
        "The spare key is under the flat stone behind the shed.",
        "a: Spare key: under the flat stone behind the shed.",
        "The shed needs paint.",
      ],
      asks: "The spare key is indoors now. Delete the old key location from memory.",
      gone: ["flat stone"],
      kept: ["shed needs paint"],
    },
  ],
  [
    "a password, and not the same word in another sense",
    {
      said: ["The wifi password is falcon88xy.", "We saw a falcon on the roof."],
      asks: "Wipe the wifi password from your memory.",
      gone: ["falcon88xy"],
      kept: ["saw a falcon on the roof"],
    },
  ],
  [
    "what a person did with it, in another form of the word",
    {
      said: ["I was diagnosed with coeliac disease.", "I work at a bakery."],
      asks: "Forget my diagnosis.",
      gone: ["coeliac"],
      kept: ["bakery"],
    },
  ],
  [
    "an employer, however it was told",
    {
      said: ["I work at Nordwind as an analyst.", "I live in Ghent."],
      asks: "Please erase my employer from your memory.",
      gone: ["Nordwind"],
      kept: ["Ghent"],
    },
  ],
  [
    "a booking reference, by its trip",
    {
      said: [
        "Our Oslo booking reference is QX7T2P.",
        "The Rome booking reference is BB81KL.",
        "a: Oslo: QX7T2P. Rome: BB81KL.",
      ],
      asks: "Delete the Oslo booking reference from memory.",
      gone: ["QX7T2P"],
      kept: ["BB81KL"],
    },
  ],
  [
    "a figure that was a draft",
    {
      said: [
        "Priya: Draft budget for the fair is $12,400.",
        "Priya: Approved budget for the fair is $11,900.",
        "a: Fair budget: draft $12,400, approved $11,900.",
      ],
      asks: "Priya: Delete the draft budget figure $12,400 from assistant memory.",
      gone: ["12,400"],
      kept: ["11,900"],
    },
  ],
  [
    "the grade of one student",
    {
      said: [
        "Provisional grade for Amir in algebra: C minus.",
        "Provisional grade for Noor in algebra: B plus.",
      ],
      asks: "Remove Amir's provisional grade from memory.",
      gone: ["C minus"],
      kept: ["B plus"],
    },
  ],
  [
    "a value that is named in words alone",
    {
      said: ["The venue hold code is MAPLE-204.", "The caterer's hold code is CEDAR-118."],
      asks: "I want the venue hold code deleted from memory.",
      gone: ["MAPLE-204"],
      kept: ["CEDAR-118"],
    },
  ],
  [
    "a value that must not be kept",
    {
      said: ["Door code for the archive is 9931.", "The archive opens at eight."],
      asks: "The archive door code 9931 must not be kept in memory any longer.",
      gone: ["9931"],
      kept: ["archive opens at eight"],
    },
  ],
  [
    "a number by its last digits",
    {
      said: ["Backup line: 212-555-0174.", "Main line: 212-555-0133."],
      asks: "Delete the number that ends in 0174 from memory.",
      gone: ["212-555-0174", "0174"],
      kept: ["212-555-0133"],
    },
  ],
  [
    "only the words meant of a message that says more",
    {
      said: ["Guest PIN for Ada is 7120, Wi-Fi name is Casa, quiet hours start at 10 PM."],
      asks: "Delete Ada's guest PIN from memory.",
      gone: ["7120"],
      kept: ["Wi-Fi name is Casa", "quiet hours start at 10 PM"],
    },
  ],
  [
    "a dose that was changed",
    {
      said: ["The old ramipril dose was 2.5 mg.", "The ramipril dose is 5 mg now."],
      asks: "Please purge the old ramipril dose from the chart.",
      gone: ["2.5 mg"],
      kept: ["5 mg now"],
    },
  ],
  [
    "two things of one request",
    {
      said: [
        "Extension for the front desk is 3317.",
        "The fax number is 555-0145.",
        "The printer is on the second floor.",
      ],
      asks: "Please remove the front desk extension and the fax number from your notes.",
      gone: ["3317", "555-0145"],
      kept: ["second floor"],
    },
  ],
  [
    "one of several people's, asked for by another",
    {
      said: [
        "Ravi: My temporary address is 14 Quay Street.",
        "Mona: My address is 3 Hill Road.",
        "a: Ravi stays at 14 Quay Street, Mona at 3 Hill Road.",
      ],
      asks: "Ravi: Delete my temporary address from shared memory.",
      gone: ["14 Quay Street"],
      kept: ["3 Hill Road"],
    },
  ],
];

const AT_WORK_AND_SCHOOL: readonly (readonly [string, Case])[] = [
  [
    "a figure by what it was for",
    {
      said: [
        "Marta: The draft bid for the Lyon tender is €84,500.",
        "Marta: The final bid for the Lyon tender is €79,900.",
      ],
      asks: "Marta: Please delete the draft bid figure for the Lyon tender from shared memory.",
      gone: ["84,500"],
      kept: ["79,900"],
    },
  ],
  [
    "a number by its kind and its owner",
    {
      said: ["Priya's personal cell is 202-555-0119.", "Priya's desk line is 202-555-0150."],
      asks: "Delete Priya's personal cell from the shared record.",
      gone: ["202-555-0119"],
      kept: ["202-555-0150"],
    },
  ],
  [
    "a reference that is replaced, with what stays in the same breath",
    {
      said: ["Vendor bank reference: VB-2231.", "The vendor bank reference is VB-9010 from now on."],
      asks: "Delete the earlier vendor bank reference VB-2231; use VB-9010 only.",
      gone: ["VB-2231"],
      kept: ["VB-9010"],
    },
  ],
  [
    "a name for something in quotes",
    {
      said: [
        "Internally we call the acquisition 'Blue Lantern'.",
        "a: Noted: the acquisition is called 'Blue Lantern'.",
        "The lantern in the lobby is blue.",
      ],
      asks: "Delete the nickname 'Blue Lantern' from memory.",
      gone: ["Blue Lantern"],
      kept: ["lantern in the lobby is blue"],
    },
  ],
  [
    "a room of one of two students",
    {
      said: ["Noor's old dorm room was B214.", "Noor's dorm room is C118 now.", "Imre's dorm room is A305."],
      asks: "Delete Noor's old dorm room from memory.",
      gone: ["B214"],
      kept: ["C118", "A305"],
    },
  ],
  [
    "a password in words",
    {
      said: ["The retake password is maple orbit.", "The exam is about maple trees."],
      asks: "Please delete the retake password from memory.",
      gone: ["maple orbit"],
      kept: ["about maple trees"],
    },
  ],
  [
    "a note about somebody's state",
    {
      said: [
        "Jonah had panic attacks before the oral exam.",
        "a: Support note saved: panic attacks before the oral exam.",
        "Jonah's oral exam is on 4 June.",
      ],
      asks: "Remove the note about Jonah's panic attacks from the student record.",
      gone: ["panic attacks"],
      kept: ["oral exam is on 4 June"],
    },
  ],
  [
    "a number that somebody gave for somebody",
    {
      said: ["The emergency contact number for Leila is 303-555-0188.", "The office number is 303-555-0100."],
      asks: "Delete the emergency contact number for Leila from memory.",
      gone: ["303-555-0188"],
      kept: ["303-555-0100"],
    },
  ],
  [
    "a code in a statement that it should go",
    {
      said: ["Sam's accommodation code is ACC-771.", "Rae's accommodation code is ACC-772."],
      asks: "The accommodation code for Sam, ACC-771, should be deleted from memory.",
      gone: ["ACC-771"],
      kept: ["ACC-772"],
    },
  ],
  [
    "a score of one pupil, not the same number of another",
    {
      said: ["Kira's provisional score is 62.", "Otto's provisional score is 62."],
      asks: "Erase Kira's provisional score from memory.",
      gone: ["Kira's provisional score is 62"],
      kept: ["Otto's provisional score is 62"],
    },
  ],
  [
    "two of one sentence, in two orders",
    {
      said: ["The podium locker code is 7744 and the badge colour is teal.", "Backup phrase: quiet meadow."],
      asks: "We are done here; delete the podium locker code and delete the backup phrase quiet meadow.",
      gone: ["7744", "quiet meadow"],
      kept: ["badge colour is teal"],
    },
  ],
  [
    "an address with the reason in front",
    {
      said: ["Until June I stay at 12 Mill Lane.", "The studio is at 40 Dock Road."],
      asks: "Now that I have moved, please delete 12 Mill Lane from memory.",
      gone: ["12 Mill Lane"],
      kept: ["40 Dock Road"],
    },
  ],
  [
    "a thing said to be deleted while it is being deleted",
    {
      said: ["The pier gate PIN is 6038.", "The pier opens at nine."],
      asks: "I am deleting the old pier gate PIN 6038. The ranger opens the gate now.",
      gone: ["6038"],
      kept: ["pier opens at nine"],
    },
  ],
  [
    "it, of the sentence before",
    {
      said: ["The helper phrase is 'copper swan'.", "A swan nests by the copper roof."],
      asks: "The helper phrase 'copper swan' is void. Delete it from shared memory.",
      gone: ["copper swan"],
      kept: ["swan nests by the copper roof"],
    },
  ],
  [
    "a time and a place that belong together",
    {
      said: [
        "Lou: My exact Sunday plan is 6:25 AM at the old ferry steps.",
        "Lou: The broad wording is after six near the harbour.",
      ],
      asks: "Lou: Delete my exact Sunday plan from memory: 6:25 AM at the old ferry steps.",
      gone: ["6:25 AM", "old ferry steps"],
      kept: ["after six near the harbour"],
    },
  ],
  [
    "an alias, and not the same letters elsewhere",
    {
      said: ["If nobody answers, ask for Nell.", "a: Ask for Nell noted.", "The knell of the bell is loud."],
      asks: "Delete the alias Nell from memory.",
      gone: ["Nell"],
      kept: ["knell of the bell"],
    },
  ],
];

const AFTER: readonly (readonly [string, Case])[] = [
  [
    "the assistant's confirmation does not bring it back",
    {
      said: ["The alarm code is 4471."],
      asks: "Delete the alarm code from memory.",
      after: ["a: Deletion recorded: alarm code 4471 removed from memory."],
      gone: ["4471"],
      kept: ["Deletion recorded"],
    },
  ],
  [
    "a question about it does not bring it back",
    {
      said: ["The alarm code is 4471."],
      asks: "Delete the alarm code from memory.",
      after: ["Ben: Was the alarm code 4471, yes or no?", "Ben: Did the old alarm code start with 4471?"],
      gone: ["4471"],
      kept: [],
    },
  ],
  [
    "saying that it stays deleted does not bring it back",
    {
      said: ["The alarm code is 4471."],
      asks: "Delete the alarm code from memory.",
      after: ["Reminder: the bins are blue, and 4471 remains deleted."],
      gone: ["4471"],
      kept: ["the bins are blue"],
    },
  ],
  [
    "the end of a number asked after does not bring it back",
    {
      said: ["Backup line is 212-555-0174."],
      asks: "Delete the backup line from memory.",
      after: ["Ben: Did the deleted number end in 0174?"],
      gone: ["0174"],
      kept: [],
    },
  ],
  [
    "saying it anew does",
    {
      said: ["The alarm code is 4471."],
      asks: "Delete the alarm code from memory.",
      after: ["The alarm code is 4471."],
      gone: [],
      kept: ["4471"],
    },
  ],
  [
    "a wording that an echo gives without its articles stays out",
    {
      said: ["Zoe: Please do not leave a message that mentions the audition."],
      asks: "Zoe: Delete the note about not mentioning the audition in a message from memory.",
      after: ["a: Cleared: 'do not leave message that mentions the audition'."],
      gone: ["mentions the audition"],
      kept: [],
    },
  ],
];

const KEPT: readonly string[] = [
  "Don't delete the alarm code.",
  "Please do not remove the alarm code from memory.",
  "Did you delete the alarm code?",
  "Have you already erased the alarm code from memory?",
  "You can delete the alarm code after Friday.",
  "Until I delete it, the alarm code stays as it is.",
  "If I move out, delete the alarm code.",
  "Rosa asked me to delete the alarm code.",
  "I deleted the alarm code from the panel yesterday.",
  "The technician will remove the alarm code from the panel.",
  "How do I delete the alarm code?",
  "Why would anyone delete the alarm code?",
  "Remove Ben from the alarm code mailing list.",
  "Delete the old branch once the build passes.",
  "Drop the alarm company a line, please.",
  "Clear the table, please.",
  "Remove the batteries from the alarm.",
  "Never forget the alarm code.",
  "I always forget the alarm code.",
  "I forgot the alarm code again.",
  "We may need to delete the alarm code next month.",
  "Ben said: delete the alarm code from memory.",
  "Should I delete the alarm code?",
  "Before you delete the alarm code, call me.",
];

describe("a request in a conversation takes", () => {
  it.each(VALUES)("%s", async (_name, one) => {
    expect(await faultsOf(one)).toEqual([]);
  });
});

describe("a request at work or at school takes", () => {
  it.each(AT_WORK_AND_SCHOOL)("%s", async (_name, one) => {
    expect(await faultsOf(one)).toEqual([]);
  });
});

describe("after a request", () => {
  it.each(AFTER)("%s", async (_name, one) => {
    expect(await faultsOf(one)).toEqual([]);
  });
});

describe("is no request", () => {
  it.each(KEPT)("%s", async (asks) => {
    const said = ["The alarm code is 4471."];
    expect(await faultsOf({ said, asks, gone: [], kept: ["4471"] })).toEqual([]);
  });
});
