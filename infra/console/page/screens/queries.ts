import { useState } from 'preact/hooks';
import type { IndexStatus } from '../../../../shared/api/indexes.ts';
import type { IndexAnswer, IndexCounted, IndexEntry } from '../../../../shared/contract/index-query.ts';
import { go, link, useAddress } from '../address.ts';
import { askerFor, Refused, type Asking } from '../api.ts';
import { prettyJson, type Value } from '../exact-json.ts';
import { html, onValue } from '../html.ts';
import { ONCE, useAnswer } from '../live.ts';
import { CliLine, Facts, Freshness, LongText, Reveal, shownOf, Trouble } from '../parts.ts';
import { usePage } from '../session.ts';
import { column, rowKeys, table } from '../table.ts';
import { counted, visible } from '../text.ts';

/** The sign and the command line's form of each operator. */
const OPERATORS: Readonly<Record<string, readonly [sign: string, cli: string]>> = {
  '': ['=', '='],
  '[ne]': ['≠', '!='],
  '[lt]': ['<', '<'],
  '[lte]': ['≤', '<='],
  '[gt]': ['>', '>'],
  '[gte]': ['≥', '>='],
};
const LIMIT = 500;

export function QueriesScreen() {
  const { parts } = useAddress();
  const live = useAnswer<{ readonly indexes: readonly IndexStatus[] }>(['indexes'], ONCE);
  const indexes = live.data?.indexes;
  const index = indexes?.find((one) => one.index === parts[0]) ?? indexes?.[0];
  return html`<h1>Queries</h1>
    <${Freshness} live=${live} />
    ${indexes?.length === 0 && html`<p>The datastore has no indexes.</p>`}
    ${
      indexes &&
      index &&
      html`<div class="bar"><label>Index <select value=${index.index} onChange=${onValue((name) => go(link(['queries', name])))}>
        ${indexes.map((one) => html`<option value=${one.index}>${one.index}</option>`)}
      </select></label></div>
      <${Query} key=${index.index} index=${index} />`
    }`;
}

/** Returns the conditions of the address, by field and operator, in the API's form. */
function conditionsOf(query: URLSearchParams, { fields }: IndexStatus): readonly (readonly [string, string])[] {
  const names = new Set(fields.map(({ field }) => field));
  return [...query].filter(([name, value]) => value !== '' && names.has(name.replace(/\[\w+\]$/u, '')));
}

function Query({ index }: { readonly index: IndexStatus }) {
  const { query } = useAddress();
  const [shown, setShown] = useState(false);
  const conditions = conditionsOf(query, index);
  const order = query.get('order') ?? '';
  const [first] = index.fields;
  const isAsked = first !== undefined && conditions.some(([name]) => name === first.field);
  const words = [
    'query',
    index.index,
    ...(isAsked || !first ? [] : [`${first.field}=VALUE`]),
    ...conditions.map(([name, value]) => cliCondition(name, value)),
    ...(order === '' ? [] : ['-o', order]),
  ];
  return html`<${QueryForm} index=${index} query=${query} />
    ${isAsked && html`<${Reveal} shown=${shown} onChange=${setShown} /><${Answer} index=${index} conditions=${conditions} order=${order} shown=${shown} />`}
    ${!isAsked && html`<p class="quiet">Give a value of ${first?.field}, the shard field: it selects the shard.</p>`}
    <${CliLine} words=${words} />`;
}

function cliCondition(name: string, value: string): string {
  const [, field = name, operator = ''] = /^(.*?)(\[\w+\])?$/u.exec(name) ?? [];
  return `${field}${OPERATORS[operator]?.[1] ?? '='}${value}`;
}

function QueryForm({ index, query }: { readonly index: IndexStatus; readonly query: URLSearchParams }) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const given: Record<string, string> = {};
    for (const { field } of index.fields) {
      const value = String(form.get(field) ?? '').trim();
      if (value !== '') given[`${field}${String(form.get(`${field} operator`) ?? '')}`] = value;
    }
    go(link(['queries', index.index], { ...given, order: String(form.get('order') ?? '') }));
  };
  return html`<form class="fields" onSubmit=${submit}>
    ${index.fields.map(({ field, type }, position) => {
      const [name = field, value = ''] = [...query].find(([one]) => one.replace(/\[\w+\]$/u, '') === field) ?? [];
      return html`<label>
        <span>${field} <span class="quiet small">${type}${position === 0 ? ', shard field' : ''}</span></span>
        <span class="condition">
          ${
            position === 0
              ? html`<span>=</span>`
              : html`<select name=${`${field} operator`} aria-label=${`How ${field} is compared`} value=${name.slice(field.length)}>
                ${Object.entries(OPERATORS).map(([operator, [sign]]) => html`<option value=${operator}>${sign}</option>`)}
              </select>`
          }
          <input name=${field} value=${value} required=${position === 0} spellcheck=${false} autocomplete="off" />
        </span>
      </label>`;
    })}
    <label><span>Order</span><select name="order" value=${query.get('order') ?? ''}>
      <option value="">by row key</option>
      ${index.fields.slice(1).flatMap(({ field }) => [html`<option value=${field}>${field}</option>`, html`<option value=${`-${field}`}>${field}, highest first</option>`])}
    </select></label>
    <button>Ask</button>
  </form>`;
}

interface AnswerProps {
  readonly index: IndexStatus;
  readonly conditions: readonly (readonly [string, string])[];
  readonly order: string;
  readonly shown: boolean;
}

type Entry = IndexEntry & { readonly hidden?: true };

function Answer({ index, conditions, order, shown }: AnswerProps) {
  const query = { ...Object.fromEntries(conditions), order: order || undefined, limit: LIMIT, explain: true };
  const live = useAnswer<IndexAnswer>(['indexes', index.index], ONCE, { query, shown });
  return shownOf(
    live,
    (data) =>
      html`<p role="status">${counted(data.entries.length, 'row')}${data.next === null ? '' : ', and more'}. <${Count} index=${index.index} query=${query} /></p>
      ${table<Entry>({
        label: 'Rows found',
        items: data.entries,
        keyOf: ({ row_key }) => row_key,
        empty: 'No row.',
        columns: [
          rowKeys('Row'),
          ...index.fields.map(({ field }) =>
            column(field, '26ch', ({ fields, hidden }: Entry) =>
              hidden ? html`<span class="quiet">hidden</span>` : visible(String(fields[field] ?? '–')),
            ),
          ),
        ],
      })}
      ${
        data.explain &&
        html`<details open><summary>How it was found</summary>
        <${Facts} facts=${[
          ['Shard', data.explain.shard],
          ['Group', data.explain.group],
          ['Answered by', data.served_by],
        ]} />
        <${LongText} text=${data.explain.statement} />
        <${LongText} text=${planText(data.explain.plan)} />
      </details>`
      }`,
  );
}

function planText(plan: unknown): string {
  return typeof plan === 'string' ? plan : prettyJson(plan as Value);
}

/** Counts the rows, only on a click. */
function Count({ index, query }: { readonly index: string; readonly query: NonNullable<Asking['query']> }) {
  const { datastore } = usePage();
  const [count, setCount] = useState<IndexCounted | Refused>();
  if (count instanceof Refused) return html`<${Trouble} error=${count} />`;
  if (count) return html`${count.complete ? '' : 'At least '}${counted(count.count, 'row')} in all.`;
  const look = (): void => {
    const asked = askerFor(datastore)<IndexCounted>(['indexes', index, 'count'], { query });
    asked.then(setCount, (error: unknown) => error instanceof Refused && setCount(error));
  };
  return html`<button type="button" onClick=${look}>Count all</button>`;
}
