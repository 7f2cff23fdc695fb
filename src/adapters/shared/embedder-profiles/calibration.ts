import type { CallOptions } from "../../../ports/call-options.ts";
import type { Embedder, EmbedderCalibration, EmbedOptions } from "../../../ports/language/embedder.ts";
import { readStoredProfile, saveStoredProfile } from "./stored-profiles.ts";

/** Thresholds of an embedder; see `Embedder`. */
export interface Calibration {
  readonly floor: number;
  readonly duplicateFloor: number;
}

/** The share of pairs of a question and another question's answer that are below the floor. */
const UNRELATED_SHARE = 0.98;
/** The share of pairs that say the same that are below the threshold for merges. */
const SAME_SHARE = 0.1;

/**
 * Measures the thresholds of an embedder on the pairs below. It embeds some hundred short sentences: with a small model in this
 * process, that takes a few seconds. Without prefixes, all-MiniLM-L6-v2 gets about what was found for it on conversations.
 */
export async function measureCalibration(embed: Embedder["embed"]): Promise<Calibration> {
  const questions = await embed(
    ANSWERED_QUESTIONS.map(([question]) => question),
    { isQuery: true },
  );
  const statements = await embed(ANSWERED_QUESTIONS.map(([, statement]) => statement));
  const unrelated = questions.flatMap((question, i) =>
    statements.flatMap((statement, k) => (i === k ? [] : [multiply(question, statement)])),
  );
  return { floor: quantile(unrelated, UNRELATED_SHARE), duplicateFloor: await measureDuplicateFloor(embed) };
}

/** Measures the threshold for merges alone: it embeds the 40 sentences of the pairs. */
export async function measureDuplicateFloor(
  embed: Embedder["embed"],
  options?: EmbedOptions,
): Promise<number> {
  const same = await embed(SAME_STATEMENTS.flat(), options);
  const similar = SAME_STATEMENTS.map((_, i) => multiply(same[2 * i], same[2 * i + 1]));
  return quantile(similar, SAME_SHARE);
}

/**
 * Measures the threshold for merges at the first call, and keeps it in `folder` under `id`. A measurement that fails is repeated by
 * the next call. Several calls at once are one measurement; one that is aborted leaves it to the others.
 */
export function createCalibration(
  embed: Embedder["embed"],
  { id, folder }: { readonly id: string; readonly folder: string | undefined },
): EmbedderCalibration {
  let measuring: Promise<number> | undefined;
  const measure = async (options: Pick<CallOptions, "scope">): Promise<number> => {
    const stored = (await readStoredProfile(folder, id)) as Partial<Calibration> | undefined;
    if (typeof stored?.duplicateFloor === "number") return stored.duplicateFloor;
    const duplicateFloor = await measureDuplicateFloor(embed, options);
    await saveStoredProfile(folder, id, { duplicateFloor });
    return duplicateFloor;
  };
  return {
    async duplicateFloor({ signal, scope } = {}) {
      signal?.throwIfAborted();
      measuring ??= measure(scope ? { scope } : {}).catch((error: unknown) => {
        measuring = undefined;
        throw error;
      });
      return signal ? raceAbort(measuring, signal) : measuring;
    },
  };
}

/** The outcome of work that goes on for others if this waiter's signal is aborted. */
function raceAbort(work: Promise<number>, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** The value below which a share of the values is, from 0 to 1, in hundredths. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const value = sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return Math.min(1, Math.max(0, Math.floor(value * 100) / 100));
}

function multiply(one: Float32Array = new Float32Array(), other: Float32Array = new Float32Array()): number {
  return one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
}

/**
 * Questions, each with a statement that answers it. Every other statement answers something else. Few of them share a rare word,
 * because a search by words finds those anyway.
 */
const ANSWERED_QUESTIONS: readonly (readonly [question: string, statement: string])[] = [
  ["Where do I live?", "The user moved to Porto last spring."],
  ["What is my job?", "The user works as a nurse at a children's hospital."],
  ["Which pets do I have?", "The user keeps two cats named Olive and Bean."],
  ["What am I allergic to?", "The user gets a rash from penicillin."],
  ["What should you not cook for me?", "The user does not eat meat or fish."],
  ["When is my sister's birthday?", "The user's sister Eva was born on 3 May 1990."],
  ["How do I get to work?", "The user takes the tram to the office every morning."],
  ["Which instrument do I play?", "The user has been learning the cello for two years."],
  ["What car do I drive?", "The user bought a used electric hatchback."],
  ["Do I do any sport?", "The user swims twenty lengths before breakfast."],
  ["Who is my doctor?", "The user sees Dr. Lindqvist about the back pain."],
  ["What did I study?", "The user has a degree in marine biology from Bergen."],
  ["What was wrong with the laptop?", "The hard disk of the user's computer failed in March."],
  ["Where are we going on holiday?", "The user's family rents a cabin by the lake in July."],
  ["What did I promise to my boss?", "The user will send the quarterly report by Friday."],
  ["How much is the rent?", "The user's flat costs 950 euros a month."],
  ["What software do I use to draw?", "The user makes illustrations in Krita on a tablet."],
  ["Which languages do I speak?", "The user grew up with Dutch and knows some Turkish."],
  ["What do I drink in the morning?", "The user starts the day with a strong espresso."],
  ["Who did I argue with?", "The user fell out with the neighbour about the fence."],
  ["What was the title of that book?", "The user is reading The Leopard by Lampedusa."],
  ["How did my exam go?", "The user passed the driving test at the second attempt."],
  ["What is broken in the house?", "The dishwasher in the user's kitchen leaks."],
  ["What is my daughter afraid of?", "The user's girl cannot sleep without a light on."],
  ["What do I want to learn?", "The user plans to take a course in pottery."],
  ["When do I have to be at the dentist?", "The user has an appointment for a filling on Tuesday at nine."],
  ["What did I plant?", "The user put tomatoes and basil on the balcony."],
  ["Which team do I support?", "The user has a season ticket for Ajax."],
  ["What is the name of my start-up?", "The user founded a company called Lanternfish."],
  ["How do I like my answers?", "The user wants short replies without lists."],
  ["What did the vet say?", "The user's dog has to lose three kilos."],
  ["What music do I listen to?", "The user loves old soul records."],
];

/** Pairs of statements that say the same in other words. */
const SAME_STATEMENTS: readonly (readonly [one: string, other: string])[] = [
  ["The user lives in Porto.", "The user's home is in Porto."],
  ["The user works as a nurse.", "The user is employed as a nurse."],
  ["The user likes espresso.", "The user is fond of espresso."],
  ["The user has two cats.", "The user owns two cats."],
  ["The user is allergic to penicillin.", "The user has an allergy to penicillin."],
  ["The user plays the cello.", "The user is a cellist."],
  ["The user hates early meetings.", "The user can't stand meetings early in the morning."],
  ["The user bought an electric car.", "The user purchased an electric car."],
  ["The user wants short answers.", "The user prefers answers that are brief."],
  ["The user speaks Dutch.", "The user can speak Dutch."],
  ["The user's sister is called Eva.", "The name of the user's sister is Eva."],
  ["The user is learning Turkish.", "The user studies Turkish."],
  ["The user goes swimming every morning.", "The user swims every morning."],
  ["The user is married to Ben.", "Ben is the user's husband."],
  ["The user founded Lanternfish.", "The user started the company Lanternfish."],
  ["The user uses Shram as a productivity tool.", "The user's productivity tool is Shram."],
  ["The user was born in 1984.", "The user's year of birth is 1984."],
  ["The user doesn't eat meat.", "The user is a vegetarian."],
  ["The user takes the tram to work.", "The user commutes by tram."],
  ["The user's dog is ill.", "The user's dog is sick."],
];
