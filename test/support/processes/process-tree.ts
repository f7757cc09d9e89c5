import { readdirSync, readFileSync } from 'node:fs';

export interface TreeProcess {
  readonly pid: number;
  readonly name: string;
  /** The resident part of its own memory, in bytes. */
  readonly residentBytes: number;
}

interface Entry extends TreeProcess {
  readonly parent: number;
}

const PAGE_BYTES = 4096;

/** Returns a process and all its descendants, without zombies. */
export function processTree(root: number): readonly TreeProcess[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readEntry(Number(name)) ?? []) : []));
  const tree = all.filter(({ pid }) => pid === root);
  // Grows during the iteration.
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** The name in /proc/PID/stat may itself hold spaces and brackets: the fields after it are counted from its end. */
function readEntry(pid: number): Entry | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const [state, parent, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    parent: Number(parent),
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    residentBytes: Number(fields[19]) * PAGE_BYTES,
  };
}
