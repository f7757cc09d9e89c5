/** Preloaded into the process that synthesizes: notes every module that it loads. */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const loaded = new Set<string>();

registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.add(fileURLToPath(url));
    return next(url, context);
  },
});

/** The paths of the modules that were loaded until now. */
export function loadedModules(): readonly string[] {
  return [...loaded];
}
