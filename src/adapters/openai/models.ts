import { checkCount } from "../../domain/limits.ts";
import { invalid } from "../../errors.ts";

interface EmbeddingModel {
  readonly dimensions: number;
  /** Whether the server can give fewer dimensions when asked. */
  readonly canShorten: boolean;
  readonly floor: number;
}

/** OpenAI's own. The floors lie above what two texts about different things come to; see docs/embedders.md. */
const MODELS: { readonly [name: string]: EmbeddingModel } = {
  "text-embedding-3-small": { dimensions: 1536, canShorten: true, floor: 0.25 },
  "text-embedding-3-large": { dimensions: 3072, canShorten: true, floor: 0.25 },
  "text-embedding-ada-002": { dimensions: 1536, canShorten: false, floor: 0.76 },
};

/** For a model that is not known: most lie near this. */
const DEFAULT_FLOOR = 0.35;
const MOST_DIMENSIONS = 4096;

/** What is known of a model, and what to ask its server for. `invalid_input` where its dimensions are not known. */
export function findEmbeddingModel(
  name: string,
  dimensions: number | undefined,
): { dimensions: number; floor: number; asksFor?: number } {
  const known = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (dimensions === undefined) {
    if (known) return known;
    throw invalid("dimensions: say how many this embedding model has, for it is none of OpenAI's own.");
  }
  checkCount(dimensions, "dimensions", 1, MOST_DIMENSIONS);
  if (!known || dimensions === known.dimensions) return { dimensions, floor: known?.floor ?? DEFAULT_FLOOR };
  if (known.canShorten && dimensions < known.dimensions) {
    return { dimensions, floor: known.floor, asksFor: dimensions };
  }
  throw invalid(`dimensions: this embedding model has ${known.dimensions}, and cannot give ${dimensions}.`);
}
