import { existsSync } from 'node:fs';
import { installChromium } from './debian.mjs';
import { singleRun } from './single-run.mjs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** See `browser.d.mts`. */
export function findBrowser(env = process.env) {
  return env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
}

/** Finds Chromium, or installs it and says so. Throws an Error with the command to run if it cannot. */
export async function ensureBrowser(log) {
  if (findBrowser() !== undefined) return;
  await singleRun('install a browser', () => {
    if (findBrowser() === undefined) installChromium(log);
  });
}
