import { readdirSync, readFileSync } from 'node:fs';

export interface TreeProcess {
  readonly pid: number;
  readonly name: string;
  /** Of its own memory, what is in the machine's, in bytes. */
  readonly residentBytes: number;
}

interface Entry extends TreeProcess {
  readonly parent: number;
}

const PAGE_BYTES = 4096;

/**
 * A process and all that it started, and what those started. Without those that have ended and were not waited for yet.
 */
export function processTree(root: number): readonly TreeProcess[] {
  const children = Map.groupBy(allProcesses(), ({ pid, parent }) => (pid === root ? 0 : parent));
  const tree = (children.get(0) ?? []).filter(({ pid }) => pid === root);
  // Grows while it is gone through.
  for (const { pid } of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

function allProcesses(): readonly Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const entry = readEntry(Number(name));
      return entry ? [entry] : [];
    });
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
