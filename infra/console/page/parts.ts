import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Refused } from './api.ts';
import { prettyJson, type Value } from './exact-json.ts';
import { html } from './html.ts';
import type { Live } from './live.ts';
import { cliLine, usePage, type Words } from './session.ts';
import { durationText, timeText } from './text.ts';

export function Trouble({ error }: { readonly error: Refused }) {
  const { progress } = error.problem;
  return html`<div class="trouble" role="alert">
    <strong>${error.status === 403 && error.code === undefined ? 'Refused by IAM' : (error.code ?? (error.status || 'no answer'))}</strong>
    ${' '}${error.message}${progress ? ` (${progress.done} of ${progress.total})` : ''}
    ${error.requestId !== undefined && html`<div class="small">request <code>${error.requestId}</code></div>`}
  </div>`;
}

/** How fresh something is; that it is not, once it cannot be had any more. */
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

/** What came, below how fresh it is. */
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

/** What does the same on the command line. */
export function CliLine({ words, label = 'On the command line' }: { readonly words: Words; readonly label?: string }) {
  const { session, datastore } = usePage();
  return html`<${Line} label=${label} text=${cliLine(session, datastore, words)} />`;
}

export function Line({ label, text }: { readonly label: string; readonly text: string }) {
  return html`<div class="cli"><span class="quiet">${label}</span> <${Copied} text=${text} /></div>`;
}

export function NotForYou({ policy }: { readonly policy: string }) {
  return html`<p class="quiet">That is not for you to see: the policy <code>${policy}</code> shows it.</p>`;
}

export function Copied({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return html`<code class="line">${text}</code
    ><button type="button" class="copy" aria-label=${`Copy: ${text.slice(0, 80)}`} onClick=${copy}>
      ${copied ? 'copied' : 'copy'}
    </button>`;
}

export function Time({ at }: { readonly at: string | null | undefined }) {
  return html`<time dateTime=${at ?? undefined} title=${at ?? ''}>${timeText(at)}</time>`;
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

/** Shows bodies, or hides them again; that somebody asked to see them is written down by the API. */
export function Reveal({ shown, onChange }: { readonly shown: boolean; readonly onChange: (shown: boolean) => void }) {
  return html`<button type="button" aria-pressed=${shown} data-key="b" onClick=${() => onChange(!shown)}>
      ${shown ? 'Hide bodies' : 'Show bodies'}</button
    >${!shown && html`<span class="quiet small"> the log will say that you did</span>`}`;
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
