import { render, type ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ActionDialog } from './actions.ts';
import { beginAt, FIRST_SCREEN, go, link, useAddress } from './address.ts';
import { asRefused, openSession, watchConnection, type Session } from './api.ts';
import { html, onValue } from './html.ts';
import { Help, listenToKeys, MENU } from './keys.ts';
import { Trouble } from './parts.ts';
import { ErasuresScreen } from './screens/erasures.ts';
import { HealthScreen } from './screens/health.ts';
import { IndexesScreen } from './screens/indexes.ts';
import { LogsScreen } from './screens/logs.ts';
import { OverviewScreen } from './screens/overview.ts';
import { PositionScreen, RequestScreen } from './screens/position.ts';
import { QueriesScreen } from './screens/queries.ts';
import { RowScreen } from './screens/row.ts';
import { ShardsScreen } from './screens/shards.ts';
import { TriggersScreen } from './screens/triggers.ts';
import { PageProvider, type Begun, type Page } from './session.ts';
import { beginsRowKey, durationText } from './text.ts';

const SCREENS: Readonly<Record<string, ComponentType>> = {
  overview: OverviewScreen,
  health: HealthScreen,
  triggers: TriggersScreen,
  logs: LogsScreen,
  row: RowScreen,
  queries: QueriesScreen,
  indexes: IndexesScreen,
  shards: ShardsScreen,
  erasures: ErasuresScreen,
  position: PositionScreen,
  request: RequestScreen,
};
function Console({ session }: { readonly session: Session }) {
  const address = useAddress();
  const [action, setAction] = useState<Begun>();
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set());
  const [helps, setHelps] = useState(false);
  const { datastore } = address;
  const page = useMemo<Page>(
    () => ({
      session,
      datastore,
      refused,
      refuse: (operation) => setRefused((before) => new Set([...before, operation])),
      begin: setAction,
    }),
    [session, datastore, refused],
  );
  const Screen = session.datastores.includes(datastore) ? SCREENS[address.screen] : OverviewScreen;
  useEffect(() => {
    document.title = `${[address.screen, ...address.parts].join(' ')} – ${datastore} – Schemaless`;
    document.querySelector('main')?.focus({ preventScroll: true });
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [address.screen, address.parts.join('/'), datastore]);
  useEffect(() => listenToKeys({ goTo: (screen) => go(link([screen])), help: () => setHelps(true) }), []);
  return html`<${PageProvider} value=${page}>
    <a class="skip" href="#main" onClick=${skip}>Skip the menu</a>
    <${Head} session=${session} datastore=${datastore} screen=${address.screen} onHelp=${() => setHelps(true)} />
    <${ConnectionLine} />
    <main id="main" tabindex="-1">
      ${Screen ? html`<${Screen} key=${`${address.screen} ${datastore}`} />` : html`<h1>No such screen</h1><p>Choose one above.</p>`}
    </main>
    ${action && html`<${ActionDialog} action=${action} onClose=${() => setAction(undefined)} />`}
    ${helps && html`<${Help} onClose=${() => setHelps(false)} />`}
  <//>`;
}

function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('main')?.focus();
}

interface HeadProps {
  readonly session: Session;
  readonly datastore: string;
  readonly screen: string;
  readonly onHelp: () => void;
}

function Head({ session, datastore, screen, onHelp }: HeadProps) {
  const { datastores: all } = session;
  const [theme, nextTheme] = useTheme();
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    search(field.current?.value ?? '');
    field.current?.blur();
  };
  const names = datastore === '' || all.includes(datastore) ? all : [...all, datastore];
  return html`<header>
    <div class="top">
      <strong class="name">Schemaless</strong>
      <label class="unseen" for="datastore">Datastore</label>
      <select id="datastore" value=${datastore} onChange=${onValue((name) => go(link([SCREENS[screen] && screen !== 'row' ? screen : FIRST_SCREEN], {}, name)))}>
        ${names.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
      <form role="search" onSubmit=${submit}>
        <input ref=${field} id="search" type="search" aria-label="Search: a row key, a position in a log, a shard, a request id" placeholder="Row key, SHARD:ADDED_ID, request id ( / )" spellcheck=${false} autocomplete="off" />
      </form>
      <span class=${`mode ${session.actions ? 'acts' : ''}`} title=${session.through?.url ?? location.origin}>${session.through?.profile ?? (session.through ? 'signed' : 'local')}<span class="wide">, ${session.actions ? 'actions on' : 'reads only'}</span></span>
      <button type="button" onClick=${nextTheme} aria-label=${`Theme: ${theme}`} title=${`Theme: ${theme}`}><i class=${`theme ${theme}`}></i><span class="wide"> ${theme}</span></button>
      <button type="button" onClick=${onHelp} aria-label="Help and keys">?</button>
    </div>
    <nav aria-label="Screens">
      ${MENU.map(([key, name, label]) => html`<a href=${link([name])} aria-current=${screen === name ? 'page' : undefined} title=${`g ${key}`}>${label}</a>`)}
    </nav>
  </header>`;
}

/** Shows for how long the API has not answered, and that it answers again. */
function ConnectionLine() {
  const [lostAt, setLostAt] = useState<number>();
  const [, setTick] = useState(0);
  const [found, setFound] = useState<string>();
  useEffect(() => {
    let before: number | undefined;
    return watchConnection((now) => {
      if (before !== undefined && now === undefined) {
        setFound(`It answers again, after ${durationText((Date.now() - before) / 1000)}.`);
        setTimeout(() => setFound(undefined), 5000);
      }
      setLostAt(now);
      before = now;
    });
  }, []);
  useEffect(() => {
    if (lostAt === undefined) return undefined;
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, [lostAt]);
  return html`<div class="connection" role="status" aria-live="polite">
    ${lostAt !== undefined && html`<div class="trouble"><strong>The API does not answer</strong>, since ${durationText((Date.now() - lostAt) / 1000)}. This page may be out of date; it retries automatically.</div>`}
    ${lostAt === undefined && found !== undefined && html`<div class="found">${found}</div>`}
  </div>`;
}

async function open(): Promise<void> {
  const root = document.getElementById('console');
  if (!root) return;
  try {
    const session = await openSession();
    const [first = ''] = session.datastores;
    beginAt(session.through?.datastore ?? session.datastores.find((name) => name !== 'smoke') ?? first);
    root.replaceChildren();
    render(html`<${Console} session=${session} />`, root);
  } catch (error) {
    const refused = asRefused(error);
    root.replaceChildren();
    render(
      html`<main><h1>Schemaless</h1><${Trouble} error=${refused} />
      <p>${refused.status === 401 ? 'Open the address that `schemaless console` printed; it works once, in one browser.' : 'This page retries in a moment.'}</p></main>`,
      root,
    );
    if (refused.status !== 401) setTimeout(() => location.reload(), 3000);
  }
}

/** Opens the screen of a row key or its beginning, a position in a log or a shard; other text is a request id. */
function search(text: string): void {
  const wanted = text.trim();
  const [, shard, position] = /^(\d{1,6})\s*:\s*(\d{1,16})$/u.exec(wanted) ?? [];
  if (wanted === '') return;
  if (shard !== undefined && position !== undefined) go(link(['position', shard, position]));
  else if (/^\d{1,6}$/u.test(wanted)) go(link(['shards', wanted]));
  else go(link([beginsRowKey(wanted) ? 'row' : 'request', beginsRowKey(wanted) ? wanted.toLowerCase() : wanted]));
}

const THEMES = ['auto', 'light', 'dark'] as const;
const KEY = 'schemaless-console-theme';

/** Returns the theme, light or dark: the system's, unless the user chose one here. */
function useTheme(): readonly [theme: string, next: () => void] {
  const [theme, setTheme] = useState(() => THEMES.find((one) => one === localStorage.getItem(KEY)) ?? THEMES[0]);
  document.documentElement.dataset['theme'] = theme;
  const next = (): void => {
    const wanted = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? THEMES[0];
    localStorage.setItem(KEY, wanted);
    setTheme(wanted);
  };
  return [theme, next];
}

void open();
