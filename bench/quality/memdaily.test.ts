import { describe, expect, it } from "vitest";
import { madeUp, options } from "./made-up.ts";
import { memdaily, memdailyTalks } from "./memdaily.ts";

const LOG = {
  tid: 0,
  message_list: [
    { mid: 3, message: "我的船叫苍鹭号。", time: "2024年04月01日 周一 08:16", place: "上海" },
    { mid: 4, message: "今天我去市场买了三条鱼。", time: "2024年04月02日 周二 09:00", place: "上海" },
  ],
  question_list: [
    { question: "我的船叫什么名字？", target_step_id: [3, 99], time: "2024年04月03日 周三 10:00" },
    { question: "谁也不知道？", target_step_id: [99] },
  ],
};

const data = madeUp({ "memdaily/06_noisy_items.json": [LOG], "memdaily/01_simple_roles.json": [LOG, LOG] });

describe("MemDaily", () => {
  it("is read file by file, with times in UTC and only the messages that are there as gold", () => {
    const talks = memdailyTalks(data);
    expect(talks.map(({ questions }) => questions.map(({ group }) => group))).toEqual([
      ["01_simple"],
      ["01_simple"],
      ["06_noisy"],
    ]);
    expect(talks[0]?.messages[0]).toEqual({
      id: "3",
      role: "user",
      content: "我的船叫苍鹭号。",
      at: "2024-04-01T08:16:00.000Z",
    });
    expect(talks[0]?.questions[0]).toMatchObject({ gold: new Set(["3"]), at: "2024-04-03T10:00:00.000Z" });
  });

  it("gives BM25 pairs of characters", async () => {
    const { report } = await memdaily({ ...options(data), limit: 2 });
    expect(report).toMatchObject({ set: "memdaily", n: 2, baseline: { "recall@1": 100 } });
    expect(report.intervals?.["recall@5"]).toHaveLength(2);
  });
});
