/**
 * The browser that is on the machine, or undefined: none is downloaded. The environment variable CHROMIUM names
 * another.
 */
export function findBrowser(env?: NodeJS.ProcessEnv): string | undefined;
