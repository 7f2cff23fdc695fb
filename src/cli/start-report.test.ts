import { expect, it } from "vitest";
import { readSettings } from "../config/settings.ts";
import { describeBackends } from "./start-report.ts";

type Variables = { readonly [name: string]: string };

const KEY = { OPENAI_API_KEY: "sk-1" };
const FAISS = { FAISS_INDEX_PATH: "memories.faiss" };

/** The embedder, FAISS and the GPU, in every combination that says something else. */
const CASES: readonly Variables[] = [
  {},
  { EMBEDDING_MODEL: "all-MiniLM-L6-v2" },
  { EMBEDDING_MODEL: "all-MiniLM-L6-v2", KEEPSAKE_MODEL_PATH: "models/minilm" },
  { EMBEDDING_MODEL: "all-mpnet-base-v2" },
  { EMBEDDING_MODEL: "./models/bge-small-en-v1.5" },
  { EMBEDDING_MODEL: "text-embedding-3-small", ...KEY },
  {
    EMBEDDING_MODEL: "bge-m3",
    OPENAI_BASE_URL: "http://localhost:11434/v1",
    KEEPSAKE_EMBEDDING_DIMENSIONS: "1024",
  },
  { EMBEDDING_MODEL: "static-minilm-1" },
  { EMBEDDING_MODEL: "bge-m3", KEEPSAKE_EMBEDDER: "static" },
  { KEEPSAKE_EMBEDDERS: '{"here":{"kind":"minilm"}}' },
  FAISS,
  { ...FAISS, KEEPSAKE_FOLLOWER: "off" },
  { ...FAISS, USE_GPU: "True" },
  { ...FAISS, USE_GPU: "False" },
  { USE_GPU: "True" },
  { USE_GPU: "False" },
  { USE_GPU: "True", EMBEDDING_MODEL: "all-MiniLM-L6-v2" },
];

function toRow(variables: Variables): string {
  const named = Object.entries(variables).map(([name, value]) => `\`${name}=${value}\``);
  const lines = describeBackends(readSettings(variables));
  return `| ${named.join("<br>") || "none of them"} | ${lines.join("<br>") || "nothing: the built-in embedder computes vectors, in this process"} |`;
}

it("says at the start what the settings of the embedder, of FAISS and of the GPU did", async () => {
  const page = [
    "# What the start says",
    "",
    "<!-- Written by src/cli/start-report.test.ts. `npx vitest run -u` updates this page. -->",
    "",
    "What a server or a worker says on stderr at its start about the embedder, FAISS and the GPU. What cannot be used is said there,",
    "too, and in the notices of `/api/v1/ready`, as soon as it is known.",
    "",
    "| Settings | The start says |",
    "|---|---|",
    ...CASES.map(toRow),
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot("../../docs/reference/start-report.md");
});

it("says what EMBEDDING_MODEL, FAISS_INDEX_PATH and USE_GPU did wherever one of them is set", () => {
  const isSaid = (variables: Variables): boolean => {
    const lines = describeBackends(readSettings(variables)).join(" ");
    return ["EMBEDDING_MODEL", "FAISS_INDEX_PATH", "USE_GPU"]
      .filter((name) => name in variables)
      .every((name) => lines.includes(name));
  };
  expect(CASES.filter((one) => !isSaid(one))).toEqual([]);
});
