import { afterEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";

let memory: Keepsake;

afterEach(() => memory.close());

async function tell(agents?: "walled" | "shared") {
  memory = await createMemory({ path: ":memory:", ...(agents ? { agents } : {}) });
  const coach = memory.scope({ user: "ana", agent: "coach" });
  const cook = memory.scope({ user: "ana", agent: "cook" });
  await coach.remember("I run in Ghent. My favourite food is risotto.");
  await cook.remember("I cook with an Aga.");
  return { cook, everyone: memory.scope({ user: "ana" }) };
}

const readBy = async (scope: ReturnType<Keepsake["scope"]>): Promise<string> =>
  JSON.stringify([
    await scope.recall("What is my favourite food?"),
    await scope.answer("What is my favourite food?"),
    await scope.answer("What do you know about me?"),
    await scope.context("What is my favourite food?"),
    await scope.converse("What is my favourite food?", { extract: "never" }),
    await scope.profile(),
    await scope.clusters({ memories: 100 }),
    await scope.reflect({ minMemories: 1 }),
    (await scope.list()).items,
  ]);

describe("agents of one user", () => {
  it("read only what was said to each of them, unless they share", async () => {
    const { cook, everyone } = await tell();
    const read = await readBy(cook);
    expect(read).toContain("Aga");
    expect(read).not.toMatch(/risotto|Ghent/);
    expect(await readBy(everyone)).toMatch(/risotto/);
  });

  it("find no memories related to one of theirs that were said to another agent", async () => {
    const { cook, everyone } = await tell();
    const { items } = await everyone.list();
    const idOf = (word: string) => items.find(({ text }) => text.includes(word))?.id ?? "";
    await everyone.link(idOf("Aga"), idOf("risotto"));
    const related = async (scope: typeof cook) =>
      JSON.stringify((await scope.related(idOf("Aga"))).items.map(({ memory }) => memory.text));
    expect(await related(everyone)).toContain("risotto");
    expect(await related(cook)).toBe("[]");
  });

  it("that share read everything of the user, and label what they store", async () => {
    const { cook } = await tell("shared");
    expect((await cook.answer("What is my favourite food?")).text).toContain("risotto");
    expect(await readBy(cook)).toMatch(/Aga/);
    const labels = new Set((await cook.list()).items.map(({ agent }) => agent));
    expect(labels).toEqual(new Set(["coach", "cook"]));
  });

  it("are walled or share, and nothing else", async () => {
    await tell();
    await expect(createMemory({ path: ":memory:", agents: "both" as never })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});
