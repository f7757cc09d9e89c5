import { useEffect, useRef } from 'preact/hooks';
import { html } from './html.ts';
import { MENU } from './menu.ts';
import { usePage } from './session.ts';

const KEYS = [
  ['/', 'search: a row key, shard/added id, the id of a request'],
  ['j k', 'the next, the one before'],
  ['b', 'show bodies, or hide them'],
  ['p', 'pause a tail'],
  ['c', 'choose the column of a row'],
  ['Esc', 'leave a dialog'],
  ['?', 'this'],
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
    <p class="quiet">Bodies of cells are hidden until somebody asks for them, and the API's log says who did. ${
      session.actions
        ? 'What changes something says first what will happen, and wants a word.'
        : 'This page only reads: schemaless console --actions lets it do more, as far as your role may.'
    } The address says what is to be seen: send it to somebody.</p>
    <p class="quiet small">Schemaless ${session.version}</p>
    <div class="buttons"><button type="button" onClick=${() => dialog.current?.close()}>Close</button></div>
  </dialog>`;
}
