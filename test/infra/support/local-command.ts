import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';

const CONTROL = join(PROJECT_ROOT, 'infra/local/commands/control.ts');

interface LocalAnswer {
  readonly code: number;
  readonly text: string;
}

/** Runs `npm run local -- …` for the stack that has its data there. */
export function localCommand(data: string): (...parameters: string[]) => Promise<LocalAnswer> {
  return (...parameters) =>
    promisify(execFile)(process.execPath, [CONTROL, ...parameters, '--data', data]).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: unknown) => ({ code: Object(error).code, text: Object(error).stderr }),
    );
}
