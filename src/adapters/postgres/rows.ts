import type { Scope } from "../../domain/scope.ts";
import { checkNames } from "../shared/stored-body.ts";
import type { Database, Reach } from "./database.ts";
import { keyOf, namesOf } from "./names.ts";
import type { Row } from "./pool.ts";

const MOST_PEOPLE = 100_000;
/** The number of nobody. */
export const NOBODY = -1;

export const PERSON = "SELECT number, revision FROM users WHERE project = $1 AND name = $2";

/** The keys of a scope's names. Half a surrogate pair is refused: U+FFFD would be stored, and two users would become one. */
export function keysOf({ project, user }: Scope): [project: string, name: string] {
  checkNames(project, user);
  return [keyOf(project), keyOf(user)];
}

/** The project of a scope, as the walls know it. */
export function reachOf(scope: Scope): Reach {
  return { project: keysOf(scope)[0] };
}

/** The user's number, or `NOBODY`, whose rows there are none of. */
export async function personOf(database: Database, scope: Scope): Promise<number> {
  const known = knownPerson(database, scope);
  if (known !== undefined) return known;
  const keys = keysOf(scope);
  const [row] = await database.quick(keys[0], { sql: PERSON, values: keys });
  if (!row) return NOBODY;
  return remembered(database, scope, Number(row.number));
}

/** The user's number, where it is known without asking. */
export function knownPerson({ people }: Database, scope: Scope): number | undefined {
  return people.get(placeOf(scope));
}

/** Keeps a user's number in mind; only of a user who is stored for good. */
export function remembered({ people, scopes }: Database, scope: Scope, number: number): number {
  if (people.size >= MOST_PEOPLE) people.clear();
  people.set(placeOf(scope), number);
  if (scopes.size >= 2 * MOST_PEOPLE) {
    scopes.clear();
    scopes.isPartial = true;
  }
  scopes.set(number, { project: scope.project, user: scope.user });
  return number;
}

function placeOf({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}

/** The scope that a row of `users` names. */
export function scopeOf({ long_names, project, name }: Row): Scope {
  const [of = "", user = ""] = namesOf(long_names, project, name);
  return { project: of, user };
}

/**
 * The bytes of a column of type `bytea`, as the server sends it (hex), or by `encode(column, 'base64')`, which takes half the
 * time for what is large.
 */
export function bytesOf(column: string | null | undefined): Buffer {
  const text = column ?? "";
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : Buffer.from(text, "base64");
}
