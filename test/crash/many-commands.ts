/** What a process is asked to do with the file, whichever way it is reached. */
export type Command =
  | {
      readonly op: "remember";
      readonly user: string;
      readonly word: string;
      readonly key: string;
      readonly id?: string;
    }
  | { readonly op: "import"; readonly user: string; readonly words: readonly string[] }
  | { readonly op: "add"; readonly user: string; readonly word: string }
  | { readonly op: "update"; readonly user: string; readonly id: string; readonly word: string }
  | { readonly op: "get"; readonly user: string; readonly id: string }
  | { readonly op: "undo"; readonly user: string; readonly revision: number }
  | { readonly op: "forget"; readonly user: string; readonly word: string }
  | { readonly op: "erase-user"; readonly user: string }
  | { readonly op: "list"; readonly user: string }
  | { readonly op: "export"; readonly user: string }
  | { readonly op: "search"; readonly user: string; readonly word: string }
  | { readonly op: "doctor" }
  | { readonly op: "backup"; readonly file: string };

/** `unknown`: the process was killed meanwhile, or could not say; it may have been done. */
export type CommandOutcome =
  | { readonly status: "done"; readonly text: string; readonly id?: string; readonly revision?: number }
  | { readonly status: "refused"; readonly code: string }
  | { readonly status: "unknown"; readonly code: string };

/** Codes of errors after which nothing was done. */
const WITHOUT_EFFECT = ["not_found", "invalid_input", "unsupported", "conflict"];

export function outcomeOfError(code: string): CommandOutcome {
  return { status: WITHOUT_EFFECT.includes(code) ? "refused" : "unknown", code };
}

export const sentenceOf = (word: string): string => `I use ${word} for work.`;
export const badgeOf = (word: string): string => `The badge of the user says ${word}.`;

/** Words that stand in no language, one for each write. */
export const UNIQUE: RegExp = /zq[a-z]{7}xv/gi;

const LETTERS = "abcdefghijklmnopqrstuvwyz";

/** The word of a number. */
export function uniqueWord(number: number): string {
  const digits = [...number.toString(25).padStart(7, "0")];
  return `Zq${digits.map((digit) => LETTERS[Number.parseInt(digit, 25)]).join("")}xv`;
}
