const prefixOf = (user) => `keepsake.edit.${user}.`;

/** A correction that is not saved, as the fields of its form; undefined for none. It is kept while the browser's tab is open. */
export function getEditDraft(user, id) {
  try {
    return JSON.parse(sessionStorage.getItem(prefixOf(user) + id)) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepEditDraft(user, id, draft) {
  try {
    sessionStorage.setItem(prefixOf(user) + id, JSON.stringify(draft));
  } catch {
    // The storage is full. The words stay in the form; only opening another memory would lose them.
  }
}

export function dropEditDraft(user, id) {
  sessionStorage.removeItem(prefixOf(user) + id);
}

/** Drops every draft of a user: after an erasure, because any of them may hold erased words. */
export function dropEditDrafts(user) {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(prefixOf(user))) sessionStorage.removeItem(key);
}
