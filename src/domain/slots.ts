import type { ValueShape } from "./shapes.ts";
import { splitWords, stem } from "./words.ts";

/** What a noun of information holds, and how its value looks. */
export interface AttributeSlot {
  /** Looks that its value can have; none where only the words around tell it. */
  readonly shapes: readonly ValueShape[];
  /** Whether its value can be words that follow it: "the pass phrase is blue cedar". */
  readonly isWords: boolean;
  /** Whether it is a place, told by "under", "behind", "in". */
  readonly isPlace?: boolean;
  /** Whether it is a name, told by its capital. */
  readonly isName?: boolean;
  /** Whether it stands for what a text says rather than for a value: "the note about the garage". */
  readonly isText?: boolean;
}

/** To add a noun, add it to a row. The first row that has it counts. */
const SLOT_ROWS: readonly (readonly [nouns: string, slot: AttributeSlot])[] = [
  [
    "number numbers line lines callback callbacks phone phones cell mobile landline hotline fax telephone desk extension",
    { shapes: ["phone", "extension", "number", "code"], isWords: false },
  ],
  [
    "pin pins code codes passcode passcodes combination combo token tokens reference references id ids identifier " +
      "identifiers keypad keypads digits serial badge confirmation ticket plate licence license login username handle account accounts key keys",
    { shapes: ["code", "number", "phone", "quoted"], isWords: true },
  ],
  [
    "password passwords passphrase phrase phrases codeword word keyword wording credential credentials secret nickname",
    { shapes: ["quoted", "code", "number"], isWords: true },
  ],
  ["email emails e-mail mail", { shapes: ["email"], isWords: false }],
  ["link links url website", { shapes: ["link"], isWords: false }],
  ["address addresses postcode", { shapes: ["address", "room", "email"], isWords: true }],
  [
    "room rooms unit flat apartment suite locker gate floor seat cabin bay dorm ward bed",
    { shapes: ["room", "code", "number"], isWords: true },
  ],
  [
    "location locations place spot site hideout whereabouts point hiding",
    { shapes: ["address", "room"], isWords: true, isPlace: true },
  ],
  [
    "salary wage pay fee fees rent budget price amount balance figure quote offer stipend cost rate total bonus debt deposit",
    { shapes: ["money", "amount", "number"], isWords: false },
  ],
  [
    "dose dosage score grade mark weight result results reading level percentage gpa value values",
    { shapes: ["amount", "number", "money", "code", "phone", "quoted"], isWords: true },
  ],
  [
    "time times window slot hour hours minute date day deadline appointment schedule",
    { shapes: ["time", "date"], isWords: true },
  ],
  ["name names alias aliases pseudonym", { shapes: ["quoted"], isWords: true, isName: true }],
  ["contact contacts", { shapes: ["phone", "email", "extension", "address", "room"], isWords: false }],
  [
    "detail details info information data",
    { shapes: ["phone", "email", "extension", "address", "room", "code", "number"], isWords: false },
  ],
  [
    "note notes instruction instructions remark remarks comment comments reminder statement entry entries record records rule",
    { shapes: [], isWords: false, isText: true },
  ],
];

const SLOTS: ReadonlyMap<string, AttributeSlot> = new Map(
  SLOT_ROWS.toReversed().flatMap(([nouns, slot]) =>
    nouns.split(" ").flatMap((noun) => splitWords(noun).map((word) => [stem(word), slot] as const)),
  ),
);

/** What the noun of this stem holds; nothing where it is no noun of information. */
export function findSlot(stemmed: string): AttributeSlot | undefined {
  return SLOTS.get(stemmed);
}
