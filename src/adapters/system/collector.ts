/**
 * Words for V8 that a process with many arrays beside its heap (vectors, search columns) is to run with. By itself V8 13.6, that of
 * Node 24, begins to collect everything whenever such memory has grown by 64 MB, and then has each new array mark a little, up
 * to 15 ms at a time. This has it weighed with the rest of the heap. Later versions may not know the word, and would say so.
 */
export function getGarbageCollectorFlags(): readonly string[] {
  return /^13\.6\./.test(process.versions.v8) ? ["--external-memory-accounted-in-global-limit"] : [];
}
