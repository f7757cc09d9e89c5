import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { askerFor, asRefused, type Refused } from './api.ts';
import { html, onValue } from './html.ts';
import { Line, Trouble } from './parts.ts';
import { cliLine, isDenied, usePage, type Action, type Begun, type Foreseen, type Words } from './session.ts';
import { counted } from './text.ts';

type Step =
  | { readonly at: 'looking' }
  | { readonly at: 'asking'; readonly foreseen: Foreseen }
  | { readonly at: 'acting'; readonly done: number; readonly of: number }
  | { readonly at: 'done'; readonly says: string }
  | { readonly at: 'failed'; readonly error: Refused };

export function ActionButton({ action, label }: { readonly action: Action; readonly label: string }) {
  const { session, datastore, refused, begin } = usePage();
  if (!session.actions) return null;
  const isRefused = refused.has(action.operation);
  return html`<button
    type="button"
    class=${action.word === undefined ? 'action' : 'action final'}
    disabled=${isRefused}
    title=${isRefused ? `IAM refused you ${action.operation}` : cliLine(session, datastore, wordsOf(action, ''))}
    onClick=${() => begin({ ...action, datastore })}
  >
    ${label}${isRefused ? ' (refused)' : ''}
  </button>`;
}

function wordsOf({ cli }: Action, answer: string): Words {
  return typeof cli === 'function' ? cli(answer) : cli;
}

export function ActionDialog({ action, onClose }: { readonly action: Begun; readonly onClose: () => void }) {
  const { session, refuse } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const ended = useRef(new AbortController());
  const ask = askerFor(action.datastore, ended.current.signal);
  const [step, setStep] = useState<Step>({ at: 'looking' });
  const [typed, setTyped] = useState('');
  const [answer, setAnswer] = useState('');
  const fail = (error: unknown): void => {
    if (ended.current.signal.aborted) return;
    if (isDenied(error)) refuse(action.operation);
    setStep({ at: 'failed', error: asRefused(error) });
  };
  useEffect(() => {
    dialog.current?.showModal();
    action.foresee(ask).then((foreseen) => setStep({ at: 'asking', foreseen }), fail);
    return () => ended.current.abort();
  }, []);
  const act = (): void => {
    setStep({ at: 'acting', done: 0, of: 0 });
    const report = (done: number, of: number): void => setStep({ at: 'acting', done, of });
    action.act({ ask, report, answer: answer.trim() }).then((says) => {
      setStep({ at: 'done', says });
      action.onDone?.();
    }, fail);
  };
  const mayAct = step.at === 'asking' && step.foreseen.nothing !== true;
  const mayNot =
    (action.word !== undefined && typed.trim() !== action.word) ||
    (action.needsAnswer === true && answer.trim() === '');
  return html`<dialog ref=${dialog} aria-labelledby="action-title" onClose=${onClose}>
    <h2 id="action-title">${action.title}</h2>
    <div aria-live="polite">${shownStep(step)}</div>
    ${mayAct && action.question !== undefined && textField(action.question, answer, setAnswer)}
    ${mayAct && action.word !== undefined && textField(html`This cannot be undone. Type <code>${action.word}</code>:`, typed, setTyped)}
    <${Line} label="The same on the command line" text=${cliLine(session, action.datastore, wordsOf(action, answer.trim()))} />
    <div class="buttons">
      <button type="button" onClick=${() => dialog.current?.close()}>${step.at === 'asking' ? 'Leave it' : 'Close'}</button>
      ${mayAct && html`<button type="button" class="danger" disabled=${mayNot} onClick=${act}>${action.title}</button>`}
    </div>
  </dialog>`;
}

function textField(label: ComponentChildren, value: string, set: (value: string) => void) {
  return html`<label>
    ${label}
    <input value=${value} autocomplete="off" spellcheck=${false} onInput=${onValue(set)} />
  </label>`;
}

function shownStep(step: Step) {
  switch (step.at) {
    case 'looking':
      return html`<p>Checking what it would do …</p>`;
    case 'asking':
      return html`<p class="foreseen">${step.foreseen.says}</p>
        ${step.foreseen.some && html`<ul class="some">${step.foreseen.some.map((line) => html`<li>${line}</li>`)}</ul>`}`;
    case 'acting':
      return html`<p>Doing it …${step.of > 0 ? ` ${step.done} of ${counted(step.of, 'cell')}` : ''}</p>
        <progress max=${step.of || undefined} value=${step.of > 0 ? step.done : undefined} aria-label="how far it is"></progress>`;
    case 'done':
      return html`<p class="done">${step.says}</p>`;
    case 'failed':
      return html`<${Trouble} error=${step.error} />`;
  }
}
