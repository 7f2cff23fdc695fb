import { capitalize, conjugate } from "../../domain/english.ts";
import type { Claim } from "../../domain/memory.ts";

/** "user" -> "The user", "user/sister" -> "The user's sister", "Caroline" -> "Caroline". */
function toSubjectName(subject: string): string {
  const [owner = "", ...things] = subject.split("/");
  return [owner === "user" ? "The user" : owner, ...things].join("'s ");
}

/**
 * A claim as a sentence: "The user uses Shram as a productivity tool." It is made here, and not by the model: so it holds
 * nothing but what was checked.
 */
export function toSentence(claim: Claim, isPast: boolean): string {
  const { subject, relation, value, qualifier = "" } = claim;
  const verb = conjugate(relation, "third", isPast ? "past" : "present");
  return capitalize(`${[toSubjectName(subject), verb, value, qualifier].filter(Boolean).join(" ")}.`);
}
