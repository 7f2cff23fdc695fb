import { type Person, person } from "../speed/made-up.ts";
import { seeded } from "../speed/vocabulary.ts";
import type { Kind } from "./generator.ts";

/** So many people of so many memories each, and how often a second they search and write. */
export interface Asking {
  readonly users: number;
  readonly perUser: number;
  readonly searches: number;
  readonly writes: number;
}

/** Searches and writes of people drawn by chance; `mark` tells one run's messages from another's. */
export function kindsOf({ users, perUser, searches, writes }: Asking, mark: string): Kind[] {
  const people: Person[] = Array.from({ length: users }, (_, i) => person(i + 1));
  const drawing = (seed: number): (() => Person) => {
    const random = seeded(seed);
    return () => people[Math.floor(random() * users)] as Person;
  };
  const [asks, tells] = [drawing(7), drawing(11)];
  const kinds: Kind[] = [
    {
      name: "search",
      perSecond: searches,
      make(number) {
        const one = asks();
        return {
          path: `/api/v1/memories/${one.name}/search`,
          body: { query: one.question(number, perUser) },
        };
      },
    },
    {
      name: "write",
      perSecond: writes,
      make(number) {
        const one = tells();
        const { content } = one.said(perUser + number);
        const messages = [{ id: `${mark}-${number}`, role: "user", content }];
        return { path: "/api/v1/messages", body: { user_id: one.name, session_id: mark, messages } };
      },
    },
  ];
  return kinds.filter(({ perSecond }) => perSecond > 0);
}
