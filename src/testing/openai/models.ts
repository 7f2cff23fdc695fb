import { type Answer, refusal } from "./answer.ts";

export const MODELS: readonly string[] = [
  "gpt-4o-mini",
  "gpt-4o-mini-2024-07-18",
  "gpt-4o",
  "text-embedding-3-small",
];

/** The answer of `GET /v1/models` and `GET /v1/models/{id}`. */
export function modelsAnswer(path: string): Answer {
  const id = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
  if (id === undefined) return { status: 200, body: { object: "list", data: MODELS.map(modelOf) } };
  const name = decodeURIComponent(id);
  if (MODELS.includes(name)) return { status: 200, body: modelOf(name) };
  return refusal(404, `The model '${name}' does not exist`, "model_not_found", "model");
}

const modelOf = (id: string): { [field: string]: unknown } => ({
  id,
  object: "model",
  created: 1_721_172_741,
  owned_by: "system",
});
