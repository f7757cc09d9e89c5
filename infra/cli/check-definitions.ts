/** `npm run check-definitions -- FOLDER`: the command `check` by itself. */
import { checkCommand } from './commands/check.ts';

await checkCommand().name('npm run check-definitions --').parseAsync();
