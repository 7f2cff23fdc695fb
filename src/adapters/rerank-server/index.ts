import { checkCount, checkName } from "../../domain/limits.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { invalid } from "../../errors.ts";
import type { Reranker } from "../../ports/language/reranker.ts";
import { isJsonObject, parseJson } from "../shared/model-calls/json-values.ts";
import {
  type CallAttempt,
  callServer,
  createFailure,
  createModelServer,
  type ModelServer,
  type ModelServerOptions,
  type RequestLimits,
  type RequestRefusal,
  sendAndReadText,
  type TransientFailure,
} from "../shared/model-calls/model-server.ts";

/** Options of `serverReranker`. By default, a request times out after 10 s and is tried once. */
export interface ServerRerankerOptions extends Omit<ModelServerOptions, "baseUrl" | "apiVersion"> {
  /** The address before "/rerank": "https://api.cohere.com/v2", "https://api.jina.ai/v1", "http://localhost:8080". */
  readonly baseUrl: string;
  /** The model; required by Cohere, Jina and vLLM. A server of one model, such as TEI, needs none. */
  readonly model?: string;
  /** The most texts per request, 1 to 1,000 (default 32, the limit of TEI). */
  readonly batchSize?: number;
}

/** The two forms of the protocol: Cohere, Jina and vLLM name the texts "documents"; TEI names them "texts". */
type RerankForm = "documents" | "texts";

/** A text longer than this is cut; the model reads fewer tokens. */
const MAX_TEXT_LENGTH = 32_000;

/**
 * A reranker on a server with a "/rerank" endpoint: Cohere, Jina, vLLM, Infinity, llama.cpp, Text Embeddings Inference (TEI).
 * Queries and texts leave this machine for that server only. Throws `invalid_input` for invalid options; errors of `score`:
 * see `Reranker`.
 */
export function serverReranker(options: ServerRerankerOptions): Reranker {
  const model = options.model === undefined ? undefined : checkName(options.model, "model");
  const batchSize = checkCount(options.batchSize ?? 32, "batchSize", 1, 1000);
  if (typeof options.baseUrl !== "string" || options.baseUrl === "")
    throw invalid('baseUrl: set the address of the reranker, such as "https://api.jina.ai/v1".');
  const server = createModelServer(
    { ...options, baseUrl: options.baseUrl.replace(/\/rerank\/*$/, "") },
    {
      path: "rerank",
      label: "reranker",
      model: model ?? "",
      timeoutMs: 10_000,
      tries: 1,
      keySetting: "KEEPSAKE_RERANKER_API_KEY",
    },
  );
  const name = model ?? server.url.host;
  let form: RerankForm = "documents";
  const send = async (query: string, texts: readonly string[], limits: RequestLimits) => {
    const sent = await requestScores(server, { form, model, query, texts }, limits);
    if (!("refused" in sent) || !wantsOtherForm(sent, form)) return sent;
    form = "texts";
    return requestScores(server, { form, model, query, texts }, limits);
  };
  return {
    name,
    local: false,
    async score(query, texts, call = {}) {
      call.signal?.throwIfAborted();
      const asked = toSentText(query);
      const scores: number[] = [];
      for (let from = 0; from < texts.length; from += batchSize) {
        const batch = texts.slice(from, from + batchSize).map(toSentText);
        const tokensIn = sumTokens(asked, batch);
        const served = {
          purpose: "rerank",
          model: name,
          units: batch.length,
          tokensIn,
          tokensOut: 0,
        } as const;
        scores.push(...(await callServer(server, served, call, (limits) => send(asked, batch, limits))));
      }
      return toShares(scores);
    },
  };
}

/** Servers refuse an empty text. */
function toSentText(text: string): string {
  const cut = text.slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return cut.trim() === "" ? "-" : cut;
}

function sumTokens(query: string, texts: readonly string[]): number {
  const ofQuery = estimateTokens(query);
  return texts.reduce((sum, text) => sum + ofQuery + estimateTokens(text), 0);
}

interface RerankRequest {
  readonly form: RerankForm;
  readonly model: string | undefined;
  readonly query: string;
  readonly texts: readonly string[];
}

async function requestScores(
  server: ModelServer,
  { form, model, query, texts }: RerankRequest,
  limits: RequestLimits,
): Promise<CallAttempt<number[]>> {
  const named = model === undefined ? {} : { model };
  const body =
    form === "documents"
      ? { ...named, query, documents: texts, top_n: texts.length }
      : { query, texts, truncate: true };
  const sent = await sendAndReadText(server, body, limits);
  return "text" in sent ? readScores(server, sent.text, query, texts) : sent;
}

function readScores(
  server: ModelServer,
  text: string,
  query: string,
  texts: readonly string[],
): CallAttempt<number[]> | TransientFailure {
  const answer = parseJson(text);
  const scores = parseScores(answer, texts.length);
  if (!scores) return createFailure(server, "gave an answer without a score for each text");
  const usage = isJsonObject(answer) && isJsonObject(answer.usage) ? answer.usage.total_tokens : undefined;
  const counted = typeof usage === "number" && usage > 0;
  const tokens = {
    tokensIn: counted ? usage : sumTokens(query, texts),
    tokensCached: 0,
    tokensOut: 0,
    ...(counted ? {} : { isEstimated: true }),
  };
  return { value: scores, outcome: "ok", usage: tokens };
}

/** The scores in the order of the texts; undefined if one is missing or invalid. Servers give them best first. */
function parseScores(answer: unknown, count: number): number[] | undefined {
  const results = isJsonObject(answer) ? (answer.results ?? answer.data) : answer;
  if (!Array.isArray(results) || results.length !== count) return undefined;
  const scores = new Array<number | undefined>(count).fill(undefined);
  for (const result of results) {
    if (!isJsonObject(result)) return undefined;
    const { index } = result;
    const score = result.relevance_score ?? result.score;
    const isNew = typeof index === "number" && index in scores && scores[index] === undefined;
    if (!isNew || typeof score !== "number" || !Number.isFinite(score)) return undefined;
    scores[index] = score;
  }
  return scores as number[];
}

/** Some servers give the model's raw values, which a sigmoid turns into shares. */
function toShares(scores: readonly number[]): number[] {
  if (scores.every((score) => score >= 0 && score <= 1)) return [...scores];
  return scores.map((score) => 1 / (1 + Math.exp(-score)));
}

/** TEI refuses a request without "texts", and names the missing field. */
function wantsOtherForm({ status, said }: RequestRefusal, form: RerankForm): boolean {
  return form === "documents" && (status === 422 || status === 400) && /\btexts\b/.test(said);
}
