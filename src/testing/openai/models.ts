import { createRefusal, type OpenaiAnswer } from "./answer.ts";

export const MODEL_IDS: readonly string[] = [
  "gpt-4o-mini",
  "gpt-4o-mini-2024-07-18",
  "gpt-4o",
  "text-embedding-3-small",
];

/** The answer of `GET /v1/models` and `GET /v1/models/{id}`. */
export function createModelsAnswer(path: string): OpenaiAnswer {
  const id = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
  if (id === undefined) return { status: 200, body: { object: "list", data: MODEL_IDS.map(toModel) } };
  const name = decodeURIComponent(id);
  if (MODEL_IDS.includes(name)) return { status: 200, body: toModel(name) };
  return createRefusal(404, `The model '${name}' does not exist`, "model_not_found", "model");
}

const toModel = (id: string): { [field: string]: unknown } => ({
  id,
  object: "model",
  created: 1_721_172_741,
  owned_by: "system",
});
