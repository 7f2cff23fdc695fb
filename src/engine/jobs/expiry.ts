import { type MaintenanceTask, MINUTE_MS } from "./task.ts";

/**
 * What has expired is given by no read from that moment on; this takes it out of the search as well, and ends it in the
 * history.
 */
export const expiryTask: MaintenanceTask = {
  name: "expiry",
  about: "takes what has expired out of the search, and ends it in the history",
  everyMs: 10 * MINUTE_MS,
  isAutomatic: () => true,
  async plan(_ports, { memories, at }) {
    const timed = memories.flatMap(({ id, version, expiresAt }) =>
      expiresAt === undefined ? [] : [{ id, version, expiresAt }],
    );
    const due = timed
      .map(({ expiresAt }) => expiresAt)
      .filter((time) => time > at)
      .sort()[0];
    return {
      edits: timed
        .filter(({ expiresAt }) => expiresAt <= at)
        .map(({ id, version }) => ({ id, version, action: "expired", why: "its time was over" })),
      ...(due === undefined ? {} : { due }),
    };
  },
};
