import type { Trouble, TroubleAt } from "./openai/script.ts";
import { type OpenaiServer, type OpenaiServerOptions, openaiServer } from "./openai-server.ts";

export { hashToVector } from "./openai/embeddings.ts";

/** The answer of an embeddings server. */
// A type, not an interface: it can be changed as any JSON can.
type EmbeddingsAnswer = {
  readonly object: "list";
  readonly model: string;
  readonly data: { object: "embedding"; index: number; embedding: number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
};

export type EmbeddingsTrouble =
  | Exclude<Trouble | TroubleAt, { change: unknown }>
  | { readonly change: (answer: EmbeddingsAnswer) => unknown };

/** A server of OpenAI's protocol of which only embeddings are asked. */
export interface EmbeddingsServer extends Omit<OpenaiServer, "troubles" | "always"> {
  readonly troubles: EmbeddingsTrouble[];
  always: EmbeddingsTrouble | undefined;
}

export const startEmbeddingsServer = (options: OpenaiServerOptions = {}): Promise<EmbeddingsServer> =>
  openaiServer(options);
