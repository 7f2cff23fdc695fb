import { findEncodedRuns, findRoleMark } from "../defang.ts";

/** What only a program writes: turns, tools, summaries and memories in a form that is to be taken for the real one. */
const FORGED: readonly (readonly [what: string, form: RegExp])[] = [
  [
    "a turn that is not the user's",
    /(?:^|\n)[ \t]*#{0,6}[ \t]*(?:system|developer|human|assistant)(?: message| prompt)?[ \t]*:(?=[ \t]*\S|[ \t]*\n)(?![ \t]*$)/i,
  ],
  [
    "a turn that is not the user's",
    /#{2,}\s*system\s*#{2,}|\{\{[#/~]*\s*system\s*~?\}\}|\[\s*\/?system(?: message| prompt)?\s*\]/i,
  ],
  [
    "a turn that is not the user's",
    /(?:^|\n)[ \t]*#{1,6}[ \t]*instruction[ \t]*:?[ \t]*(?=\n|$)|#{2,}[ \t]*(?:system|assistant|instruction)[ \t]*:|\bbegin (?:of )?(?:the )?(?:system|developer|assistant) (?:prompt|message|instructions?)\b|\{\{[#/~]*\s*assistant\s*~?\}\}/i,
  ],
  ["a call of a tool", /"(?:tool_calls?|function_call|next_action|tool|action)"\s*:\s*["{[]/i],
  [
    "a call of a tool",
    /(?:^|\n)[ \t*]*(?:action|action input|observation)[ \t*]*:|<\s*\/?\s*(?:function|tool|invoke|parameter)[\w:=]*[ >]|\btool_code\b|(?:^|\s)to=[a-z_.]+|@(?:agent|tool|assistant)\.\w+|\bpersona\.\w+\(/i,
  ],
  [
    "a summary that is none",
    /\b(?:session|conversation|chat)[ _-]?(?:summary|recap)\b|=+ ?summary\b|\[compacted|\bcontext carried over\b|\bhand-?over note\b|\bprevious(?:ly)? on this chat\b|\blong-term state\b|\bsummary so far\b|\bto recap what you told me\b/i,
  ],
  [
    "a memory that is none",
    /\bmemory(?:_|\s)?(?:update|correction|dump|consolidated|\.md)\b|\bmemories?\b[ \t]*:[ \t]*\[|<\s*\/?\s*\w*memor\w*\s*>|#+ ?user memory\b|"kind"\s*:\s*"instruction"|\[instruction\]|- instruction:|\binstr\s*=|\bprofile_sync\b|\bprofile\.txt\b|\brecall\(\)|\bretract:\s*\[/i,
  ],
  ["a memory that is none", /(?:^|\n)[ \t>]*[-*] \[\d{4}-\d{2}-\d{2}\].*\(messages? /],
];

/** What a text forges, and from where on; the rest of it cannot be told from it. Undefined where it forges nothing. */
export function findForged(text: string): { readonly start: number; readonly what: string } | undefined {
  const found = FORGED.flatMap(([what, form]) => {
    const at = text.search(form);
    return at < 0 ? [] : [{ start: at, what }];
  });
  const tag = findRoleMark(text);
  if (tag >= 0) found.push({ start: tag, what: "a turn that is not the user's" });
  const hidden = findEncodedRuns(text).find(({ says }) => /\p{L}{3,} +\p{L}{2,}/u.test(says));
  if (hidden) found.push({ start: findLineStart(text, hidden.start), what: "text that is encoded" });
  return found.sort((one, other) => one.start - other.start)[0];
}

function findLineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}
