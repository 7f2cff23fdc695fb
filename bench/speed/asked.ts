import { type MadeUpPerson, person } from "./made-up.ts";

/** One user of the file, with questions that are never the same twice. */
export interface Asker {
  readonly person: MadeUpPerson;
  ask(): string;
}

/** The users of a file of `perUser` messages each, made when they are first met. */
export function askers(perUser: number): (user: number) => Asker {
  const met = new Map<number, Asker>();
  return (user) => {
    let asker = met.get(user);
    if (!asker) {
      asker = askerOf(person(user), perUser);
      met.set(user, asker);
    }
    return asker;
  };
}

function askerOf(one: MadeUpPerson, perUser: number): Asker {
  const asked = new Set<string>();
  let number = 0;
  return {
    person: one,
    ask() {
      for (;;) {
        const question = one.question(number, perUser);
        number += 1;
        if (asked.has(question)) continue;
        asked.add(question);
        return question;
      }
    },
  };
}
