/**
 * What stands in the log. It remembers which turn touched which memories, because what is erased must not stay on
 * the screen either.
 */
export function transcript(log) {
  let turns = [];

  return {
    clear(first) {
      turns = [];
      log.replaceChildren(first);
    },
    append(...elements) {
      log.querySelector(".welcome")?.remove();
      log.append(...elements);
      log.scrollTop = log.scrollHeight;
    },
    /** A turn: the bubble of what was said, the reply, and the ids of the memories in it. */
    keep(asked, reply, ids) {
      turns.push({ asked, reply, ids });
    },
    /** Takes erased words away; a request to erase is itself erased with what it asked for. */
    wipe({ ids }, request) {
      const gone = new Set(ids);
      for (const { asked, reply, ids: touched } of turns) {
        const isRequest = asked === request;
        if (!isRequest && !touched.some((id) => gone.has(id))) continue;
        asked.replaceChildren("words erased");
        asked.classList.add("erased");
        if (!isRequest) reply.remove();
      }
    },
  };
}
