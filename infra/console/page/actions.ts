import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, type Foreseen, isDenied, usePage } from './session.ts';
import { Refused } from './api.ts';
import { html } from './html.ts';
import { CliLine, Trouble } from './parts.ts';
import { counted } from './text.ts';

type Step =
  | { readonly at: 'looking' }
  | { readonly at: 'asking'; readonly foreseen: Foreseen }
  | { readonly at: 'acting'; readonly done: number; readonly of: number }
  | { readonly at: 'done'; readonly says: string }
  | { readonly at: 'failed'; readonly error: Refused };

export function ActionButton({ action, label }: { readonly action: Action; readonly label: string }) {
  const { session, refused, begin } = usePage();
  if (!session.actions) return null;
  const isRefused = refused.has(action.operation);
  return html`<button
    type="button"
    class="action"
    disabled=${isRefused}
    title=${isRefused ? `IAM refused you ${action.operation}` : lineOf(action, '')}
    onClick=${() => begin(action)}
  >
    ${label}${isRefused ? ' (refused)' : ''}
  </button>`;
}

function lineOf({ cli }: Action, answer: string): string {
  return typeof cli === 'string' ? cli : cli(answer);
}

export function ActionDialog({ action, onClose }: { readonly action: Action; readonly onClose: () => void }) {
  const { refuse } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const ended = useRef(new AbortController());
  const [step, setStep] = useState<Step>({ at: 'looking' });
  const [typed, setTyped] = useState('');
  const [answer, setAnswer] = useState('');
  const fail = (error: unknown): void => {
    if (ended.current.signal.aborted) return;
    if (isDenied(error)) refuse(action.operation);
    setStep({
      at: 'failed',
      error: error instanceof Refused ? error : new Refused(0, { detail: String(error) }, undefined),
    });
  };
  useEffect(() => {
    dialog.current?.showModal();
    action.foresee(ended.current.signal).then((foreseen) => setStep({ at: 'asking', foreseen }), fail);
    return () => ended.current.abort();
  }, []);
  const act = (): void => {
    setStep({ at: 'acting', done: 0, of: 0 });
    action
      .act({
        report: (done, of) => setStep({ at: 'acting', done, of }),
        signal: ended.current.signal,
        answer: answer.trim(),
      })
      .then((says) => {
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
    ${mayAct && action.word !== undefined && textField(html`Nothing brings it back. Type <code>${action.word}</code>:`, typed, setTyped)}
    <${CliLine} line=${lineOf(action, answer.trim())} label="The same on the command line" />
    <div class="buttons">
      <button type="button" onClick=${() => dialog.current?.close()}>${step.at === 'asking' ? 'Leave it' : 'Close'}</button>
      ${mayAct && html`<button type="button" class="danger" disabled=${mayNot} onClick=${act}>${action.title}</button>`}
    </div>
  </dialog>`;
}

function textField(label: ComponentChildren, value: string, set: (value: string) => void) {
  return html`<label>
    ${label}
    <input value=${value} autocomplete="off" spellcheck=${false} onInput=${(event: InputEvent) => set((event.target as HTMLInputElement).value)} />
  </label>`;
}

function shownStep(step: Step) {
  switch (step.at) {
    case 'looking':
      return html`<p>Looking what it would do …</p>`;
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
