import { splitWords, stem } from "../../domain/search/search-terms.ts";
import type { ValueShape } from "../../domain/text/phrase-index.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";

export interface ShapedValue extends TextSpan {
  readonly shape: ValueShape;
  readonly text: string;
}

const MONTH =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const CLOCK = "\\d{1,2}(?::\\d{2})? ?(?:[ap]\\.?m\\.?(?![a-z]))|\\d{1,2}:\\d{2}";
const ROOM =
  "(?:[Uu]nit|[Ff]lat|[Aa]partment|[Aa]pt\\.?|[Rr]oom|[Ss]uite|[Bb]ay|[Ll]ocker|[Gg]ate|[Ff]loor|[Bb]ox|[Ss]eat|[Dd]esk|[Cc]abin|[Ll]ot|[Dd]ock|[Bb]ed|[Ww]ard|[Pp]latform|[Tt]erminal|[Bb]uilding|[Bb]lock|[Ss]tudio|[Dd]rawer|[Ss]helf|[Bb]in)";
const UNIT =
  "(?:mg|mcg|µg|micrograms?|milligrams?|grams?|kg|g|ml|litres?|liters?|lbs?|pounds|units?|percent|%|hours?|hrs?|minutes?|mins?|points?|km|miles|cm|mm|°[CF]|bpm|mmHg|credits?)";
const CURRENCY = "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL|ZAR";
/** Numbers with common separators for thousands and decimals: "2,350", "2.350,00", "2'350.50". */
const NUMBER = "\\d+(?:[.,'’\\u00a0\\u202f]\\d+)*";
const NAMES = "(?:\\p{Lu}[\\p{L}'’-]+ ){1,4}";

const CALENDAR_NAME = new RegExp(`^(?:${DAY}|${MONTH})$`);

/** Whether a capitalised word is a day or a month, and no name. */
export function isCalendarName(word: string): boolean {
  return CALENDAR_NAME.test(word);
}

/** The first match applies, so more specific shapes come first. */
const SHAPES: readonly (readonly [ValueShape, RegExp])[] = [
  ["email", /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu],
  ["link", /\b(?:https?:\/\/|www\.)[^\s"'“”<>)]*[^\s"'“”<>).,;:!?]/giu],
  [
    "quoted",
    /“[^”\n]{2,120}”|"[^"\n]{2,120}"|(?<![\p{L}\p{N}])['‘](?=\S)[^'’\n]{2,120}['’](?![\p{L}\p{N}])/gu,
  ],
  ["date", /(?<!\d)\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?(?![\d-])/gu],
  // "Jan 17 June" is the 17th of June, and somebody called Jan.
  [
    "date",
    new RegExp(
      `\\b(?:${DAY},? )?(?:${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?! (?:of )?${MONTH}\\b)(?:,? \\d{4})?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}(?: \\d{4})?)\\b`,
      "gu",
    ),
  ],
  [
    "money",
    new RegExp(`(?:[$€£¥] ?|\\b(?:${CURRENCY}) ?)${NUMBER}(?: ?(?:k|m|bn|million|thousand))?\\b`, "giu"),
  ],
  [
    "money",
    new RegExp(
      `(?<![\\p{L}\\p{N}]|\\p{N}[.,])${NUMBER}(?: ?(?:k|m|bn|million|thousand))? ?(?:[$€£¥]|(?:${CURRENCY}|dollars?|euros?|pounds sterling|francs|kronor|yen)\\b)`,
      "giu",
    ),
  ],
  // "19.80/unit", "22.75 per sqm"
  ["money", /(?<![\p{L}\p{N}.,/-])\d{1,9}[.,]\d{2}(?:\/| per )\p{L}{1,12}(?![\p{L}\p{N}])/gu],
  [
    "phone",
    /(?<![\p{L}\p{N}.-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,5}\)[ .-]?|\d{2,5}[ .-])(?:\d{2,4}[ .-])?\d{3,6}(?![\p{L}\p{N}]|[.-]\d)(?:,? ?(?:ext\.?|extension|x) ?\d{1,5}\b)?/giu,
  ],
  ["extension", /\b(?:ext\.?|extension) ?#?\d{1,6}\b/giu],
  [
    "address",
    new RegExp(
      `\\b\\d{1,5}[A-Za-z]? ${NAMES}?(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Square|Way|Place|Terrace|Crescent|Boulevard|Blvd|Quay|Row|Hill)\\b`,
      "gu",
    ),
  ],
  ["room", new RegExp(`(?:${NAMES})?\\b${ROOM} #?[A-Z]?-?\\d+[A-Za-z]?\\b`, "gu")],
  ["time", new RegExp(`\\b(?:${CLOCK})(?: ?(?:to|-|–|until) ?(?:${CLOCK}))?`, "giu")],
  [
    "amount",
    new RegExp(`(?<![\\p{L}\\p{N}.-])\\d+(?:[.,]\\d+)?(?:/\\d+)? ?${UNIT}(?![\\p{L}\\p{N}])`, "giu"),
  ],
  ["amount", /(?<![\p{L}\p{N}.-])\d{1,3}\/\d{1,3}(?![\p{L}\p{N}/])/gu],
  // "61k", "1.5k": thousands.
  ["number", /(?<![\p{L}\p{N}.,/-])\d{1,4}(?:[.,]\d{1,2})?k(?![\p{L}\p{N}]|[.,/-]\d)/giu],
  // Letters and digits mixed, groups of digits, words joined by underscores, capitals joined by hyphens.
  ["code", /(?<![\p{L}\p{N}])\d{1,4}(?:-\d{1,4}){2,}(?![\p{L}\p{N}])/gu],
  [
    "code",
    /(?<![\p{L}\p{N}@._-])(?=[\p{L}\p{N}#_./-]*\d)(?=[\p{L}\p{N}#_./-]*\p{L})(?!\d+(?:st|nd|rd|th|k|s|am|pm)(?![\p{L}\p{N}]))[\p{L}\p{N}]+(?:[#_./-][\p{L}\p{N}]+)*(?![\p{L}\p{N}])/giu,
  ],
  ["code", /(?<![\p{L}\p{N}])(?:\p{L}+(?:_[\p{L}\p{N}]+)+|\p{Lu}{2,}(?:-[\p{Lu}\p{N}]+)+)(?![\p{L}\p{N}])/gu],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{1,3}(?:[.'’\u00a0\u202f]\d{3})+(?:,\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{3,}(?:\.\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
];

/** The values in a text that have a recognisable shape, in order, without overlaps. */
export function findShapedValues(text: string): ShapedValue[] {
  const found: ShapedValue[] = [];
  for (const [shape, pattern] of SHAPES) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const start = index;
      const end = index + match.length;
      if (found.some((other) => start < other.end && other.start < end)) continue;
      found.push({ shape, start, end, text: match });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Shapes that identify a value by themselves: it can be searched for anywhere. */
const DISTINCT: ReadonlySet<ValueShape> = new Set(["email", "link", "phone", "address"]);

/**
 * Whether a value belongs to its owner only: an address, a phone number, a code of at least four characters.
 */
export function isDistinctValue({ shape, text }: Pick<ShapedValue, "shape" | "text">): boolean {
  if (DISTINCT.has(shape)) return true;
  if (shape === "quoted") return text.trim().split(/\s+/).length > 1;
  if (shape !== "code" && shape !== "number") return false;
  return text.replace(/[^\p{L}\p{N}]/gu, "").length >= 4;
}

/** What a noun of information contains, and the shape of its value. */
export interface AttributeSlot {
  /** Shapes that its value can have; empty if only the surrounding words identify it. */
  readonly shapes: readonly ValueShape[];
  /** Whether its value can be the following words: "the pass phrase is blue cedar". */
  readonly isWords: boolean;
  /** Whether it is a place, marked by "under", "behind", "in". */
  readonly isPlace?: boolean;
  /** Whether it is a name, marked by its capital. */
  readonly isName?: boolean;
  /** Whether it refers to a text rather than a value: "the note about the garage". */
  readonly isText?: boolean;
}

/** To add a noun, add it to a row. The first row with the noun applies. */
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

/** The contents of the noun with this stem; undefined if it is not a noun of information. */
export function findSlot(stemmed: string): AttributeSlot | undefined {
  return SLOTS.get(stemmed);
}
