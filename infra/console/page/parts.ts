import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Refused } from './api.ts';
import { prettyJson, type Value } from './exact-json.ts';
import { html } from './html.ts';
import type { Live } from './live.ts';
import { cliLine, usePage, type Words } from './session.ts';
import { agoText, durationText, timeText } from './text.ts';

export function Trouble({ error }: { readonly error: Refused }) {
  const { progress } = error.problem;
  return html`<div class="trouble" role="alert">
    <strong>${error.status === 403 && error.code === undefined ? 'Refused by IAM' : (error.code ?? (error.status || 'no answer'))}</strong>
    ${' '}${error.message}${progress ? ` (${progress.done} of ${progress.total})` : ''}
    ${error.requestId !== undefined && html`<div class="small">request <code>${error.requestId}</code></div>`}
  </div>`;
}

/** Shows the age of data, and the error once it cannot be polled. */
export function Freshness({ live }: { readonly live: Live<unknown> }) {
  const now = useClock(live.error ? 1000 : 5000);
  if (live.error && live.data !== undefined)
    return html`<div class="trouble" role="status">
      <strong>Not up to date.</strong> ${live.error.message} This is from ${durationText((now - (live.at ?? now)) / 1000)} ago;
      it is asked for again. <button type="button" onClick=${live.again}>Ask now</button>
    </div>`;
  if (live.error) return html`<${Trouble} error=${live.error} />`;
  if (live.data === undefined) return html`<p class="quiet" role="status">Asking …</p>`;
  return null;
}

/** Shows data below its age. */
export function shownOf<Data>(live: Live<Data>, show: (data: Data) => ComponentChildren) {
  return html`<${Freshness} live=${live} />${live.data !== undefined && show(live.data)}`;
}

function useClock(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Shows the equivalent command. */
export function CliLine({ words, label = 'On the command line' }: { readonly words: Words; readonly label?: string }) {
  const { session, datastore } = usePage();
  return html`<${Line} label=${label} text=${cliLine(session, datastore, words)} />`;
}

export function Line({ label, text }: { readonly label: string; readonly text: string }) {
  return html`<div class="cli"><span class="quiet">${label}</span> <${Copied} text=${text} /></div>`;
}

export function NotForYou({ policy }: { readonly policy: string }) {
  return html`<p class="quiet">You may not see this: the policy <code>${policy}</code> allows it.</p>`;
}

export function Copied({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  // Keeps words with hyphens, and an option with its value, on one line.
  return html`<code class="line">${text
    .split(/(?<! -\w) /u)
    .flatMap((word) => [' ', html`<span>${word}</span>`])
    .slice(1)}</code
    ><button type="button" class="copy" aria-label=${`Copy: ${text.slice(0, 80)}`} onClick=${copy}>
      ${copied ? 'copied' : 'copy'}
    </button>`;
}

interface TimeProps {
  readonly at: string | null | undefined;
  /** Also shows the exact time, which is otherwise the title. @default false */
  readonly isExact?: boolean;
}

export function Time({ at, isExact = false }: TimeProps) {
  const now = useClock(10_000);
  if (at === null || at === undefined) return html`<span>–</span>`;
  const ago = agoText(at, now);
  return html`<time dateTime=${at} title=${at}>${isExact ? html`${timeText(at)} UTC <span class="quiet small">${ago}</span>` : ago}</time>`;
}

/** Shows a UUID, of which a narrow screen shows 8 digits. */
export function ShortKey({ text }: { readonly text: string }) {
  return html`<span class="short" title=${text}>${text.slice(0, 8)}<span>${text.slice(8)}</span></span>`;
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return html`<span class=${`badge ${tone}`}>${children}</span>`;
}

export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return html`<dl class="facts">
    ${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** Shows or hides bodies. The API logs each request for them. */
export function Reveal({ shown, onChange }: { readonly shown: boolean; readonly onChange: (shown: boolean) => void }) {
  return html`<button type="button" aria-pressed=${shown} data-key="b" onClick=${() => onChange(!shown)}>
      ${shown ? 'Hide bodies' : 'Show bodies'}</button
    >${!shown && html`<span class="quiet small"> which the API logs</span>`}`;
}

const CHUNK = 20_000;

export function LongText({ text }: { readonly text: string }) {
  const [shown, setShown] = useState(CHUNK);
  useEffect(() => setShown(CHUNK), [text]);
  return html`<pre class="body" tabindex="0">${text.slice(0, shown)}</pre>
    ${
      text.length > shown &&
      html`<button type="button" onClick=${() => setShown(shown + CHUNK)}>
      Show more: ${Math.ceil((text.length - shown) / 1000)}k characters are left
    </button>`
    }`;
}

export function JsonBody({ value }: { readonly value: Value }) {
  return html`<${LongText} text=${prettyJson(value)} />`;
}
