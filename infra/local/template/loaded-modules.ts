/** Preloaded into the synthesis: notes every loaded module. */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const loaded = new Set<string>();

registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.add(fileURLToPath(url));
    return next(url, context);
  },
});

export function loadedModules(): readonly string[] {
  return [...loaded];
}
