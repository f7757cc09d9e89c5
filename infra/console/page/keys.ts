import { MENU } from './menu.ts';

interface OnKeys {
  readonly goTo: (screen: string) => void;
  readonly help: () => void;
}

const FOLLOWS_MS = 1500;

/** The keys of the page; none of them while somebody types. Returns what ends it. */
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
