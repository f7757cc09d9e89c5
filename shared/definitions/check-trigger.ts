import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DefinitionFile } from './definition-file.ts';
import { MOST_ATTEMPTS_OF_FUNCTIONS, type triggerYaml } from './yaml-schemas.ts';

/** Checks that a trigger names each column once, and what follows from its function, which is given from `project`. */
export function checkTrigger(trigger: DefinitionFile<typeof triggerYaml>, project?: string): void {
  const { sound = {} } = trigger;
  const { columns, function: handler, max_attempts: attempts = 0 } = sound;
  if (typeof columns === 'object')
    trigger.once(
      'column',
      columns.map((name, position) => ({ name, path: ['columns', position] })),
    );
  if (
    handler !== undefined &&
    project !== undefined &&
    !statSync(join(project, handler), { throwIfNoEntry: false })?.isFile()
  ) {
    trigger.wrong(['function'], `a file of the project in ${project}`);
  }
  if ('function' in sound && attempts > MOST_ATTEMPTS_OF_FUNCTIONS) {
    const why = 'with a function, since each attempt counts as a receipt of the cells behind it';
    trigger.wrong(['max_attempts'], `a whole number from 1 to ${MOST_ATTEMPTS_OF_FUNCTIONS} ${why}`);
  }
}
