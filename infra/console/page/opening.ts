import { openSession } from './api.ts';

/** Begun by a script of its own, while the modules of the screens are still on their way. */
export const opening = openSession();
// Whoever waits for it hears of it.
opening.catch(() => undefined);
