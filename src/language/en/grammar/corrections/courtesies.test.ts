import { expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

it.each(["ok thx", "ok ty", "sorry thx", "ok thx, good night", "Ok thanks!", "alright, cheers mate"])(
  "%j after a fact changes nothing",
  async (courtesy) => {
    await using memory = await createMemory({ path: ":memory:" });
    const scope = memory.scope({ user: "ana" });
    for (const text of ["I work in the library on the campus.", "I do tax returns for my aunt.", courtesy])
      await scope.remember(text);
    expect((await scope.list()).items.map(({ text }) => text).sort()).toEqual([
      "The user does tax returns for their aunt.",
      "The user works in the library on the campus.",
    ]);
  },
);
