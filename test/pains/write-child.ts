import { createMemory } from "../../src/index.ts";

/** Another program on the same file: `PATH NAME COUNT` remembers so many messages of one user, one by one. */
const [, , path = "", name = "", count = "0"] = process.argv;
const memory = await createMemory({ path });
const ann = memory.scope({ user: "ann" });
for (let i = 0; i < Number(count); i += 1) {
  await ann.remember(
    [{ id: `${name}-${i}`, role: "user", content: `Lantern ${name}${i} hangs in the hall.` }],
    {
      extract: "never",
    },
  );
}
await memory.close();
