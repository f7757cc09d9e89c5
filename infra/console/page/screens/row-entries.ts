import type { IndexStatus } from '../../../../shared/api/indexes.ts';
import type { IndexAnswer } from '../../../../shared/contract/index-query.ts';
import { link } from '../address.ts';
import { Refused, type Ask } from '../api.ts';
import { cellsWithBodies, type ShownCell } from '../cells.ts';
import type { Value } from '../exact-json.ts';
import { html } from '../html.ts';
import { ONCE, useLive } from '../live.ts';
import { Badge, shownOf, type Tone } from '../parts.ts';
import { column, table } from '../table.ts';

interface Entry {
  readonly index: string;
  readonly field: string;
  /** Undefined if the row has no value that makes an entry. */
  readonly value: string | undefined;
  readonly tone: Tone;
  readonly state: string;
  readonly where: string;
}

interface RowEntriesProps {
  readonly rowKey: string;
  readonly columns: readonly ShownCell[];
  readonly shown: boolean;
}

/** Shows the row's index entries. Their values are in bodies, so these must be shown. */
export function RowEntries({ rowKey, columns, shown }: RowEntriesProps) {
  return html`<h2>Index entries</h2>
    ${
      shown
        ? html`<${Entries} rowKey=${rowKey} columns=${columns} />`
        : html`<p class="quiet">Show the bodies to compute them.</p>`
    }`;
}

function Entries({ rowKey, columns }: Omit<RowEntriesProps, 'shown'>) {
  const places = columns.map(({ added_id }) => added_id).join();
  const live = useLive((ask) => entriesOf(rowKey, columns, ask), ONCE, `${rowKey} ${places}`);
  return shownOf(live, (items) =>
    table<Entry>({
      label: 'Index entries of the row',
      items,
      keyOf: ({ index }) => index,
      empty: 'The datastore has no indexes of columns that the row has.',
      columns: [
        column('Index', '24ch', ({ index, field, value }) =>
          value === undefined ? index : html`<a href=${link(['queries', index], { [field]: value })}>${index}</a>`,
        ),
        column('Shard field', '24ch', ({ field }) => field),
        column('Value', '38ch', ({ value }) => value ?? 'none'),
        column('Entry', '16ch', ({ tone, state }) => html`<${Badge} tone=${tone}>${state}<//>`),
        column('Location', '34ch', ({ where }) => where, { gives: true }),
      ],
    }),
  );
}

async function entriesOf(rowKey: string, columns: readonly ShownCell[], ask: Ask): Promise<readonly Entry[]> {
  const { indexes } = await ask<{ indexes: readonly IndexStatus[] }>(['indexes']);
  const wanted = indexes.filter(({ fields }) =>
    columns.some(({ column_name }) => column_name === fields[0]?.column_key),
  );
  const names = new Set(wanted.map(({ fields }) => fields[0]?.column_key));
  const latest = columns.filter(({ column_name, erased }) => names.has(column_name) && erased !== true).slice(0, 100);
  const cells = await cellsWithBodies(latest, ask);
  const entries: Entry[] = [];
  for (const { index, fields } of wanted) {
    const [first] = fields;
    if (!first) continue;
    const body = cells.find((cell) => cell?.column_name === first.column_key)?.body ?? null;
    const value = fieldOf(body, first.field);
    const asked = { index, field: first.field, value };
    entries.push({ ...asked, ...(await entryAt(asked, rowKey, ask)) });
  }
  return entries;
}

/** Returns a field such as `fare.total` of a body; undefined if an index cannot hold it. */
function fieldOf(body: Value, field: string): string | undefined {
  let at: Value | undefined = body;
  for (const key of field.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, Value>>)[key];
  }
  return at === null || typeof at === 'object' || at === undefined ? undefined : String(at);
}

const MOST = 1000;

async function entryAt(
  { index, field, value }: Pick<Entry, 'index' | 'field' | 'value'>,
  rowKey: string,
  ask: Ask,
): Promise<Pick<Entry, 'tone' | 'state' | 'where'>> {
  if (value === undefined) return { tone: 'plain', state: 'none', where: 'the row has no value of the shard field' };
  try {
    const query = { [field]: value, limit: MOST, fields: field, explain: true };
    const { entries, next, explain } = await ask<IndexAnswer>(['indexes', index], { query });
    const where = explain ? `shard ${explain.shard}, ${explain.group}` : '';
    if (entries.some(({ row_key }) => row_key === rowKey)) return { tone: 'good', state: 'there', where };
    return next === null
      ? { tone: 'bad', state: 'missing', where }
      : { tone: 'plain', state: `not among ${MOST}`, where };
  } catch (error) {
    if (error instanceof Refused) return { tone: 'warn', state: error.code ?? 'unknown', where: error.message };
    throw error;
  }
}
