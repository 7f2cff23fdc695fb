import { type MadeUpPerson, person } from "../speed/made-up.ts";
import { seeded } from "../speed/vocabulary.ts";
import type { RequestBody, RequestKind } from "./generator.ts";

/** So many people of so many memories each, and how often a second they search and write. */
export interface PeopleLoad {
  readonly users: number;
  readonly perUser: number;
  readonly searches: number;
  readonly writes: number;
}

/** Searches and writes of people drawn by chance; `mark` tells one run's messages from another's. */
export function kindsOf({ users, perUser, searches, writes }: PeopleLoad, mark: string): RequestKind[] {
  const people: MadeUpPerson[] = Array.from({ length: users }, (_, i) => person(i + 1));
  const drawing = (seed: number): (() => MadeUpPerson) => {
    const random = seeded(seed);
    return () => people[Math.floor(random() * users)] as MadeUpPerson;
  };
  const [asks, tells] = [drawing(7), drawing(11)];
  const kinds: RequestKind[] = [
    { name: "search", perSecond: searches, make: (number) => searchOf(asks(), number, perUser) },
    { name: "write", perSecond: writes, make: (number) => writeOf(tells(), number, perUser, mark) },
  ];
  return kinds.filter(({ perSecond }) => perSecond > 0);
}

/** A write and a search of each person, so that the server has read the memories of all of them. */
export function oncePerPerson({ users, perUser, searches, writes }: PeopleLoad, mark: string): RequestBody[] {
  return Array.from({ length: users }, (_, i) => person(i + 1)).flatMap((one, number) => [
    ...(writes > 0 ? [writeOf(one, number, perUser, mark)] : []),
    ...(searches > 0 ? [searchOf(one, number, perUser)] : []),
  ]);
}

function searchOf(one: MadeUpPerson, number: number, perUser: number): RequestBody {
  return { path: `/api/v1/memories/${one.name}/search`, body: { query: one.question(number, perUser) } };
}

function writeOf(one: MadeUpPerson, number: number, perUser: number, mark: string): RequestBody {
  const { content } = one.said(perUser + number);
  const messages = [{ id: `${mark}-${number}`, role: "user", content }];
  return { path: "/api/v1/messages", body: { user_id: one.name, session_id: mark, messages } };
}
