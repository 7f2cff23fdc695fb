import { createMemory, type InputMessage } from "../../src/index.ts";
import { rounded, type Spread, settle } from "./measure.ts";
import { phase } from "./progress.ts";
import { type Crowd, type Hot, hot } from "./recalls.ts";

/** What a process takes that only reads. */
export interface Reads {
  readonly recall: Spread;
  readonly answer: Spread;
  /** After the recalls. */
  readonly rssMb: number;
  /** Of the first user. */
  readonly memories: number;
}

export async function readsOf(path: string, crowd: Crowd): Promise<Reads> {
  const memory = await createMemory({ path });
  phase("recall");
  const recall = await hot(memory, crowd, 30, ({ memory, asker }) => memory.recall(asker.ask()));
  const rssMb = rounded(process.memoryUsage.rss() / 1e6);
  phase("answer");
  const answer = await hot(memory, crowd, 10, ({ memory, asker }) => memory.answer(asker.ask()));
  const { total } = await memory.scope({ user: crowd.asker(1).person.name }).list({ limit: 1 });
  await memory.close();
  settle();
  return { recall, answer, rssMb, memories: total };
}

/** What a process takes that writes, one message at a time. */
export interface Writes {
  readonly remember: Spread;
  readonly afterWrite: Spread;
}

export async function writesOf(path: string, crowd: Crowd, perUser: number): Promise<Writes> {
  const memory = await createMemory({ path });
  let said = perUser;
  const more = ({ asker }: Hot): InputMessage[] => {
    const { role, content, at } = asker.person.said(said);
    said += 1;
    return [{ role, content, at }];
  };
  phase("remember");
  const remember = await hot(memory, crowd, 15, (now) => now.memory.remember(more(now)));
  phase("recall after a write");
  const afterWrite = await hot(
    memory,
    crowd,
    10,
    ({ memory, asker }) => memory.recall(asker.ask()),
    (now) => now.memory.remember(more(now), { extract: "never" }),
  );
  await memory.close();
  settle();
  return { remember, afterWrite };
}
