import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A page in a browser without a window, by Chrome's DevTools protocol. */
export interface Tab extends AsyncDisposable {
  /** Calls a method; rejects with what the browser says against it. */
  call(method: string, parameters?: object): Promise<Record<string, unknown>>;
  /** Calls back for every event of this name from now on. */
  on(event: string, heard: (parameters: Record<string, unknown>) => void): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

// The last ones keep it from asking the network for anything by itself.
const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe', '--no-first-run',
  '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

/** A browser that does not end within this is killed. */
const CLOSE_MS = 5000;

/** Starts `chromium`, which has to be on PATH, with one empty page. Disposing it ends it and removes what it kept. */
export async function openTab(): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'schemaless-chromium-'));
  const browser = spawn('chromium', [...FLAGS, `--user-data-dir=${profile}`], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const gone = once(browser, 'exit');
  const heard: { readonly event: string; readonly heard: (parameters: Record<string, unknown>) => void }[] = [];
  const call = conversation(browser.stdio[3] as Writable, browser.stdio[4] as Readable, (event, parameters) => {
    for (const listener of heard) if (listener.event === event) listener.heard(parameters);
  });
  const close = async (): Promise<void> => {
    // Asked to, it waits for its own processes; killed, it would leave them to others.
    const killed = setTimeout(() => void browser.kill('SIGKILL'), CLOSE_MS);
    call('Browser.close').catch(() => undefined);
    await gone.catch(() => undefined);
    clearTimeout(killed);
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const ended = gone.then(
    () => Promise.reject(new Error('chromium ended before it answered')),
    (error: unknown) => Promise.reject(new Error('chromium could not be started: wanted it on PATH (Debian: apt-get install chromium)', { cause: error })),
  );
  ended.catch(() => undefined);
  try {
    const { targetId } = await Promise.race([call('Target.createTarget', { url: 'about:blank' }), ended]);
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    return {
      call: (method, parameters) => Promise.race([call(method, parameters, String(sessionId)), ended]),
      on: (event, listener) => void heard.push({ event, heard: listener }),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Messages both ways, each a JSON text that a zero byte ends. */
function conversation(to: Writable, from: Readable, tell: (event: string, parameters: Record<string, unknown>) => void): (method: string, parameters?: object, sessionId?: string) => Promise<Record<string, unknown>> {
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  let rest = '';
  from.setEncoding('utf8').on('data', (chunk: string) => {
    const texts = (rest + chunk).split('\0');
    rest = texts.pop() ?? '';
    for (const { id, method, params = {}, result = {}, error } of texts.map((text) => JSON.parse(text) as Message)) {
      if (method !== undefined) tell(method, params);
      if (id === undefined) continue;
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  });
  // What cannot be sent any more, or heard, is known by the browser's end.
  to.on('error', () => undefined);
  from.on('error', () => undefined);
  let calls = 0;
  return (method, params = {}, sessionId) => {
    calls += 1;
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(calls, answer);
    to.write(`${JSON.stringify({ id: calls, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
    return answer.promise;
  };
}
