import { useEffect, useRef } from 'preact/hooks';
import { html } from './html.ts';
import { usePage } from './session.ts';

/** The screens, by the key that follows `g`. */
export const MENU = [
  ['o', 'overview', 'Overview'],
  ['h', 'health', 'Health'],
  ['t', 'triggers', 'Triggers'],
  ['l', 'logs', 'Logs'],
  ['r', 'row', 'Rows'],
  ['q', 'queries', 'Queries'],
  ['i', 'indexes', 'Indexes'],
  ['s', 'shards', 'Shards'],
  ['e', 'erasures', 'Erasures'],
] as const;

interface OnKeys {
  readonly goTo: (screen: string) => void;
  readonly help: () => void;
}

const FOLLOWS_MS = 1500;

/** Listens to the page's keys, but not while the user types. Returns a function that stops it. */
export function listenToKeys({ goTo, help }: OnKeys): () => void {
  let goesUntil = 0;
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    const { key } = event;
    if (performance.now() < goesUntil) {
      goesUntil = 0;
      const screen = MENU.find(([own]) => own === key)?.[1];
      if (screen !== undefined) {
        event.preventDefault();
        goTo(screen);
      }
      return;
    }
    if (key === 'g') goesUntil = performance.now() + FOLLOWS_MS;
    else if (key === '/') document.getElementById('search')?.focus();
    else if (key === '?') help();
    else if (key === 'j' || key === 'k') moveFocus(key === 'j' ? 1 : -1);
    else if (!clickKey(key)) return;
    event.preventDefault();
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/u.test(target.tagName))
  );
}

function moveFocus(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')];
  const now = items.indexOf(document.activeElement as HTMLElement);
  const next = items[now < 0 ? 0 : Math.max(0, Math.min(items.length - 1, now + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function clickKey(key: string): boolean {
  const target = /^[a-z]$/u.test(key) ? document.querySelector<HTMLElement>(`main [data-key="${key}"]`) : null;
  if (target instanceof HTMLSelectElement) target.focus();
  else target?.click();
  return target !== null;
}

const KEYS = [
  ['/', 'search for a row key, SHARD:ADDED_ID, a shard or a request id'],
  ['j k', 'next and previous item'],
  ['b', 'show or hide bodies'],
  ['p', 'pause a log'],
  ['c', 'choose the column of a row'],
  ['Esc', 'close a dialog'],
  ['?', 'show this help'],
] as const;

export function Help({ onClose }: { readonly onClose: () => void }) {
  const { session } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog ref=${dialog} aria-labelledby="help-title" onClose=${onClose}>
    <h2 id="help-title">Keys</h2>
    <dl class="keys">
      ${[...KEYS, ...MENU.map(([key, , label]) => [`g ${key}`, label] as const)].map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}
    </dl>
    <p class="quiet">Bodies of cells are hidden until you ask for them, which the API logs with the caller. ${
      session.actions
        ? 'Each action first shows its effect, and asks for confirmation.'
        : 'This page only reads: schemaless console --actions allows changes, within the rights of your role.'
    } To share a screen, send its address.</p>
    <p class="quiet small">Schemaless ${session.version}</p>
    <div class="buttons"><button type="button" onClick=${() => dialog.current?.close()}>Close</button></div>
  </dialog>`;
}
