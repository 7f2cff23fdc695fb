import { expect, it } from "vitest";
import { sessionsConformance } from "../../testing/sessions-conformance.ts";
import { memorySessions } from "./sessions.ts";

sessionsConformance({ name: "memory", open: async (clock) => memorySessions({ clock }) });

it("evicts the least recently active sessions when the memory is full", async () => {
  const sessions = memorySessions({ clock: () => new Date(0), bytes: 50_000 });
  const turn = {
    id: "m",
    role: "user" as const,
    content: "x".repeat(10_000),
    at: "2026-11-21T12:00:00.000Z",
  };
  for (const user of ["ana", "ben", "eve"])
    await sessions.append({ project: "p", user, session: "s" }, [turn]);
  const left = ["ana", "ben", "eve"].map((user) => sessions.active({ project: "p", user }));
  expect((await Promise.all(left)).map(({ length }) => length)).toEqual([0, 1, 1]);
  expect((await sessions.room()).bytes).toBeLessThanOrEqual(50_000);
});
