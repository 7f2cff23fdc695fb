import { ENDING_VERBS } from "../ending-verbs.ts";

/** Relations that end what they are about: of what was sold or given up nothing is had any more. */
export const PARTING: RegExp = new RegExp(`^(?:${[...ENDING_VERBS, "finish", "give"].join("|")})(?![a-z])`);
