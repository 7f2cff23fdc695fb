import type { AnsweredBy, AnswerTrouble } from "../../domain/recall.ts";

const TROUBLE_TEXTS: { readonly [trouble in AnswerTrouble]: string } = {
  unavailable: "The model cannot be reached",
  slow: "The model took too long",
  over_quota: "The budget for the model is used up",
  refused: "The model refused",
  empty: "The model said nothing",
  ungrounded: "The model named nothing that is known",
  cut: "The model was cut off",
  failed: "The model could not be asked",
};

/** Why an answer is from memory alone, for a person; nothing where it is not, or nobody was asked. */
export function explainModelTrouble({ by, trouble }: AnsweredBy): string | undefined {
  return by === "memory" && trouble ? `${TROUBLE_TEXTS[trouble]}, so this is from memory alone.` : undefined;
}
