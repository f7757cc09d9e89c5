import { fork } from 'node:child_process';

/** Keeps so many processes busy, until disposed: threads of writers and servers then stop at every place there is. */
export function startPressure(processes: number): Disposable {
  const children = Array.from({ length: processes }, () =>
    fork(new URL('busy-loop.ts', import.meta.url), { execArgv: [], stdio: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
