import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./files.ts";
import type { Run, RunOptions } from "./report.ts";
import { retrieval, type SetConversation } from "./retrieval.ts";

interface Trajectory {
  readonly message_list: readonly {
    readonly mid: number;
    readonly message: string;
    readonly time: string;
    readonly place?: string;
  }[];
  readonly question_list: readonly {
    readonly question: string;
    readonly target_step_id: readonly number[];
    readonly time?: string;
  }[];
}

/**
 * MemDaily: what somebody says about daily life, in Chinese, about nine messages before each question. Each of these
 * short logs is one user's memory, and BM25 reads pairs of characters.
 */
export function memdaily(options: RunOptions): Promise<Run> {
  return retrieval(
    {
      set: "memdaily",
      cuts: [1, 3, 5, 10],
      columns: ["recall@1", "recall@3", "recall@5", "recall@10", "all@5", "ndcg@5", "mrr"],
      main: ["recall@5"],
      notes: ["Chinese; about nine messages to a memory."],
    },
    memdailyTalks(options.data),
    options,
  );
}

/** One conversation per log. */
export function memdailyTalks(data: string): SetConversation[] {
  const folder = join(data, "memdaily");
  return filesIn(folder).flatMap((file) => {
    const group = file.replace(".json", "").split("_").slice(0, 2).join("_");
    return readJson<Trajectory[]>(folder, file).map(({ message_list, question_list }, i) => ({
      name: `${file}-${i}`,
      messages: message_list.map(({ mid, message, time }) => ({
        id: String(mid),
        role: "user",
        content: message,
        ...timeOf(time),
      })),
      questions: question_list.flatMap(({ question, target_step_id, time }) => {
        const gold = new Set(
          target_step_id.filter((id) => message_list.some(({ mid }) => mid === id)).map(String),
        );
        return gold.size > 0 ? [{ question, group, gold, ...timeOf(time) }] : [];
      }),
    }));
  });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .sort();
  } catch {
    throw new Error(`${folder} cannot be read. bench/quality/README.md says where the data comes from.`);
  }
}

/** "2024年04月01日 周一 08:16", taken as UTC. */
function timeOf(text: string | undefined): { at?: string } {
  const [, year, month, day, time] = /^(\d+)年(\d+)月(\d+)日 \S+ ([\d:]+)$/.exec(text ?? "") ?? [];
  return year ? { at: new Date(`${year}-${month}-${day}T${time}:00Z`).toISOString() } : {};
}
