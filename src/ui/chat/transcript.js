/**
 * Runs the message log. It knows the memories of each turn, to remove erased text from the screen.
 */
export function transcript(log) {
  let turns = [];
  const scrollToEnd = () => {
    log.scrollTop = log.scrollHeight;
  };

  return {
    clear(first) {
      turns = [];
      log.replaceChildren(first);
    },
    append(...elements) {
      log.querySelector(".welcome")?.remove();
      log.append(...elements);
      scrollToEnd();
    },
    scrollToEnd,
    /** Records a turn: the message, the reply, and the ids of their memories. */
    keep(message, reply, ids) {
      turns.push({ message, reply, ids });
    },
    /** Removes erased text. A request to erase is removed too. */
    wipe({ ids }, request) {
      const erasedIds = new Set(ids);
      for (const { message, reply, ids: touched } of turns) {
        const isRequest = message === request;
        if (!isRequest && !touched.some((id) => erasedIds.has(id))) continue;
        message.replaceChildren("words erased");
        message.classList.add("erased");
        if (!isRequest) reply.remove();
      }
    },
  };
}
