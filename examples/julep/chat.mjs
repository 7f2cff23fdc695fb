import Julep from "@julep/sdk";
import { createMemory } from "keepsake";
import { createJulepChat } from "keepsake/adapters/julep";

// The client reads JULEP_API_KEY, and JULEP_BASE_URL for a Julep server of your own.
const julep = new Julep();
const agent = await julep.agents.create({ name: "Helper", instructions: "You help a person." });

const memory = await createMemory({ path: ":memory:" });
const ana = memory.scope({ user: "ana" });
const chat = createJulepChat(ana, julep.sessions);

// Two conversations: what is said in the first is known in the second.
const first = await julep.sessions.create({ agent: agent.id });
await chat(first.id, {
  messages: [{ role: "user", content: "I use Shram and Magnet as productivity tools." }],
});
const second = await julep.sessions.create({ agent: agent.id });
const reply = await chat(second.id, {
  messages: [{ role: "user", content: "Which productivity tools do I use?" }],
});
console.log(reply.choices[0].message.content);

// What is forgotten is in neither of them any more. Julep itself has saved nothing.
const { complete } = await ana.forget("Magnet");
console.log(complete);
for (const { id } of [first, second]) {
  const { items } = await ana.session(id);
  const { entries } = await julep.sessions.history(id);
  console.log(
    items.some(({ content }) => content.includes("Magnet")),
    entries.length,
  );
}
await memory.close();

// Prints, with a model that always says the same:
// All right.
// true
// false 0
// false 0
